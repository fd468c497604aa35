"""Files are written whole or not at all, and nothing but the file that is meant is ever written to."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from dlbrt import whole_files
from dlbrt.whole_files import is_special, write_whole


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_the_process_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"text")
    finally:
        os.umask(before)
    assert (tmp_path / "new").read_bytes() == b"text"
    assert mode_of(tmp_path / "new") == 0o640
    assert os.listdir(tmp_path) == ["new"]


def test_a_new_file_may_be_like_another(tmp_path: Path) -> None:
    (tmp_path / "source").touch(0o700)
    (tmp_path / "source").chmod(0o705)
    write_whole(tmp_path / "new", b"", like=tmp_path / "source")
    assert mode_of(tmp_path / "new") == 0o705


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o440])
def test_the_mode_stays(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_whole(path, b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", mode)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    write_whole(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_bytes()) == (12345, 23456, b"new")


def test_of_a_link_the_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_no_draft_follows_a_link_or_takes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files.secrets, "token_hex", lambda _: "guessed")
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / ".out.guessed.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "out", b"new")
    assert victim.read_bytes() == b"precious"
    assert not (tmp_path / "out").exists()


def test_drafts_have_other_names_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts: list[str] = []
    replace = os.replace

    def noted(draft: str, target: str) -> None:
        drafts.append(draft)
        replace(draft, target)

    monkeypatch.setattr(os, "replace", noted)
    for _ in range(20):
        write_whole(tmp_path / "out", b"x")
    assert len(set(drafts)) == 20
    assert {os.path.dirname(draft) for draft in drafts} == {str(tmp_path)}


def test_a_full_disk_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    written = os.write

    def full(handle: int, data: Any) -> int:
        if len(data) > 10:
            return written(handle, data[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"x" * 15)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_device_is_an_error() -> None:
    with pytest.raises(OSError, match="No space"):
        write_whole("/dev/full", b"x")


KILLED = """
import os, signal, sys
from dlbrt import whole_files
whole_files.os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
whole_files.write_whole(sys.argv[1], b"new" * 1000)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_a_crash_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write_whole(path, b"text" * 50_000)
    reader.join(30)
    assert got == [b"text" * 50_000]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert is_special(path)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(os.devnull)
    for path in (os.devnull, tmp_path / "link"):
        write_whole(path, b"text")
        assert stat.S_ISCHR(os.stat(path).st_mode)
        assert is_special(path)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout")
def test_standard_output_that_is_a_file_is_not_replaced(tmp_path: Path) -> None:
    begin = "print(1, flush=True); from dlbrt.whole_files import write_whole"
    words = f"{begin}; write_whole('/dev/stdout', b'2\\n'); print(3)"
    with (tmp_path / "out").open("ab") as out:
        subprocess.run([sys.executable, "-c", words], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "1\n2\n3\n"


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", b"")
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "out", b"")
    assert os.listdir(tmp_path) == ["folder"]


def test_long_names_and_odd_ones(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 120, "a\nb", os.fsdecode(b"\xff\xfe")):
        write_whole(tmp_path / name, b"text")
        assert (tmp_path / name).read_bytes() == b"text"
        assert len(os.listdir(tmp_path)) == 1
        (tmp_path / name).unlink()
