"""What the Autobahn test suite takes from modules, for texts whose characters are bytes. A module of the converted suite."""

import binascii
from pathlib import Path

from autobahn.websocket import utf8validator


def octets(text):
    """The bytes of such a text; bytes as they are."""
    return text.encode("latin-1") if isinstance(text, str) else text


def b2a_hex(text):
    return binascii.b2a_hex(octets(text)).decode()


hexlify = b2a_hex


def resource_filename(_, name):
    return str(Path(__file__).parent / name)


class Utf8Validator(utf8validator.Utf8Validator):
    def validate(self, text):
        return super().validate(octets(text))
