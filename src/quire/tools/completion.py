"""`quire completion`: what a shell needs to complete commands, options and their choices."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_QUIRE_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what a shell needs to complete commands.

    \b
    bash   eval "$(quire completion bash)"              in ~/.bashrc
    zsh    eval "$(quire completion zsh)"               in ~/.zshrc
    fish   quire completion fish > ~/.config/fish/completions/quire.fish
    """  # noqa: D301 -- click knows a real backspace only
    maker = get_completion_class(shell)
    assert maker is not None, "click knows all of SHELLS"
    click.echo(maker(ctx.find_root().command, {}, "quire", VARIABLE).source())
