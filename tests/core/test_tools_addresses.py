from __future__ import annotations

import pytest

from agentcore.tools.addresses import is_odd_number, is_public

INSIDE = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.1 127.255.255.254
169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1
192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16
:: ::1 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:0:1
64:ff9b::a9fe:a9fe 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b:1::1 64:ff9b:1::8.8.8.8
2002:a9fe:a9fe:: 2002:7f00:1::1 2002:c0a8:1::1 2002:a83f:8110::1
2001:0:7f00:1:0:0:f7f7:f7f7 2001:0:808:808::80ff:fffe 2001:db8::1 2001:10::1 2001:20::1 3fff::1
2620:0:2d0:200:0:5efe:127.0.0.1 100::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%1
2606:4700::1%1 fec0::1 ff02::1 4000::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 93.184.215.14 172.15.0.1 172.32.0.1 192.0.1.1 100.63.0.1 198.20.0.1 223.255.255.254
2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:80b::200e ::ffff:8.8.8.8 64:ff9b::8.8.8.8
2002:808:808::1 2001:0:808:808::f7f7:f7f7
"""


@pytest.mark.parametrize("address", INSIDE.split())
def test_an_inside_address_is_none_of_everybodys(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_a_public_address_may_be_reached(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f000001", "1.2.3.4.5", "1.1.1.1 "])
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public(text)


@pytest.mark.parametrize(
    "host",
    ["127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0x7f000001", "127.0.0.01", "1.2.3.4.", "0x"],
)
def test_a_number_that_is_no_address_as_written_is_odd(host: str) -> None:
    assert is_odd_number(host)


@pytest.mark.parametrize("host", ["example.org", "1.1.1.1", "1.example", "0xyz", "v2.example.", ""])
def test_names_and_addresses_as_written_are_not_odd(host: str) -> None:
    assert not is_odd_number(host)
