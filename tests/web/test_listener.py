from __future__ import annotations

import socket

from hermesweb.management.commands.up import listening


def test_a_connection_waits_for_no_acknowledgement_between_the_parts_of_an_answer() -> None:
    with listening("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
