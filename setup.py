"""Builds the Cython kernels; without a C compiler the install still succeeds on the pure-Python reference."""

import os
import sys

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.extension import Extension

KERNELS = [Extension("quire.records.kernel", ["src/quire/records/kernel.pyx"])]


class OptionalBuildExt(build_ext):
    """`Extension(optional=True)` does not survive a missing compiler; this does."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as failure:  # any failure of the toolchain means: no kernel
            self._give_up(failure)

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as failure:
            self._give_up(failure)

    @staticmethod
    def _give_up(failure: Exception) -> None:
        print(
            f"quire: no kernel was built ({failure}); the pure-Python reference will run",
            file=sys.stderr,
        )

    def copy_extensions_to_source(self) -> None:
        made = (
            os.path.join(self.build_lib, self.get_ext_filename(e.name)) for e in self.extensions
        )
        built = [e for e, path in zip(self.extensions, made, strict=True) if os.path.exists(path)]
        self.extensions, wanted = built, self.extensions
        super().copy_extensions_to_source()
        self.extensions = wanted


def kernels() -> list[Extension]:
    if os.environ.get("QUIRE_PURE"):
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    return list(cythonize(KERNELS, language_level=3))


setup(ext_modules=kernels(), cmdclass={"build_ext": OptionalBuildExt})
