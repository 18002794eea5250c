"""Which addresses of the network a tool may reach: those that are everybody's, no others.

The networks stand here and are not asked of `ipaddress`, whose answers differ between versions and
let some through that hold an inside address.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# This host, private and shared networks, links, documentation, measurement, relays, multicast,
# reserved; 192.0.0.192 and 168.63.129.16 tell cloud machines about themselves.
_INSIDE_4 = [
    IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",
    )
]
# All that is everybody's lies here, but for what is reserved within.
_GLOBAL_6 = IPv6Network("2000::/3")
_INSIDE_6 = [IPv6Network(one) for one in ("2001::/23", "2001:db8::/32", "3fff::/20")]
_MAPPED, _NAT64 = IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR, _TEREDO = IPv6Network("2002::/16"), IPv6Network("2001::/32")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(text: str) -> bool:
    """Whether an address as text is everybody's, and every address that it holds inside too."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_public_4(address)
    held = list(_held(address))
    if not all(map(_is_public_4, held)):
        return False
    if held and address not in _GLOBAL_6:
        return address in _MAPPED or address in _NAT64
    reserved = any(address in network for network in _INSIDE_6) and address not in _TEREDO
    return address in _GLOBAL_6 and address.scope_id is None and not reserved


def is_odd_number(host: str) -> bool:
    """Whether a name would be read as an address though it is not written as one: `127.1`,
    `0x7f.1`, `2130706433`."""
    last = host.rstrip(".").rpartition(".")[2].lower()
    is_hex = last.startswith("0x") and not set(last[2:]) - set("0123456789abcdef")
    return (last.isdigit() or is_hex) and ":" not in host and not _is_plain(host)


def _is_plain(host: str) -> bool:
    try:
        IPv4Address(host)
    except ValueError:
        return False
    return True


def _is_public_4(address: IPv4Address) -> bool:
    return not any(address in network for network in _INSIDE_4)


def _held(address: IPv6Address) -> Iterator[IPv4Address]:
    """IPv4 addresses that an IPv6 address stands for."""
    number = int(address)
    if address in _MAPPED or address in _NAT64:
        yield _v4(number)
    elif address in _SIX_TO_FOUR:
        yield _v4(number >> 80)
    elif address in _TEREDO:
        yield _v4(number >> 64)
        yield _v4(~number)
    if (number >> 32) & 0xFFFF_FFFF in _ISATAP:
        yield _v4(number)


def _v4(number: int) -> IPv4Address:
    return IPv4Address(number & 0xFFFF_FFFF)
