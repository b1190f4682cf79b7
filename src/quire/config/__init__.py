"""Every setting, declared once: name, type, default, bounds, when it may change, and one sentence.

From a declaration follow its parsing, its place in DescribeConfigs and AlterConfigs, and its line
in docs/reference/configs.md (`python -m quire.config` prints that page).

Start with `setting` (the language) and any page of `broker/` (the tables). `layers` says which of
the values given for a name counts, `describe` says it as DescribeConfigs does, `alter` judges
changes, `checks` the settings of a node that starts.

Not here   where the texts come from (files, the metadata log), what a setting does, the answers.
See        docs/decisions/0008-settings-declared-once.md, KIP-226 (dynamic broker settings).

Non-obvious
  - A setting that is the synonym of another is listed only from the described name on: a broker
    with log.retention.hours alone shows no synonym at all for log.retention.ms.
  - A setting nobody declared counts as a secret: its value is never shown.
  - APPEND and SUBTRACT start from the declared default where nothing is set, not from the broker's.
  - An empty cleanup.policy is a value (keep for ever); an empty item in a list never is.
"""
