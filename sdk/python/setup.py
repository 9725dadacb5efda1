"""Puts the text of the contract into the package: `wit/` of the repository is its only copy."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1] / "wit"
PACKAGED = Path("src") / "wharf_sdk" / "wit"


def copy_wit(target: Path) -> None:
    """Copies the text, from the repository or, in a source distribution, from the package itself."""
    source = REPOSITORY if (REPOSITORY / "worlds.wit").is_file() else HERE / PACKAGED
    files = sorted(source.glob("*.wit"))
    if not files:
        raise SystemExit(f"no .wit files in {source}: build in a clone of the repository")
    # A file that the repository no longer has must not stay from an earlier build.
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for file in files:
        shutil.copyfile(file, target / file.name)


class BuildWithWit(build_py):
    """Adds `wharf_sdk/wit` to a wheel."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            copy_wit(Path(self.build_lib) / "wharf_sdk" / "wit")


class SourceWithWit(sdist):
    """Adds `wharf_sdk/wit` to a source distribution."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        copy_wit(Path(base_dir) / PACKAGED)


setup(cmdclass={"build_py": BuildWithWit, "sdist": SourceWithWit})
