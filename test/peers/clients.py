"""Reads a demo server with independent clients from PyPI, and prints what they read as one line of JSON."""

import asyncio
import json
import sys

import aiomcrcon
from mcrcon import MCRcon
from mcsmp import Client
from mcstatus import JavaServer
from rcon.source import Client as RconClient

given = json.loads(sys.argv[1])
host = "127.0.0.1"
password = given["password"]
command = "list uuids"


async def read_aio_mc_rcon() -> str:
    client = aiomcrcon.Client(host, given["rcon"], password)
    await client.connect()
    try:
        reply = await client.send_cmd(command)
        return reply[0]
    finally:
        await client.close()


async def read_mcsmp() -> object:
    async with Client(host, given["management"], given["secret"], tls=False) as client:
        return await client.request("minecraft:server/status")


status = JavaServer(host, given["status"]).status()
query = JavaServer(host, given["status"], query_port=given["query"]).query()
with MCRcon(host, password, port=given["rcon"]) as mcrcon:
    from_mcrcon = mcrcon.command(command)
with RconClient(host, given["rcon"], passwd=password) as client:
    from_rcon = client.run(command)

print(
    json.dumps(
        {
            "mcstatus": {
                "version": status.version.name,
                "protocol": status.version.protocol,
                "online": status.players.online,
                "max": status.players.max,
            },
            "mcstatus query": {"online": query.players.online, "players": sorted(query.players.list)},
            "mcrcon": from_mcrcon,
            "rcon": from_rcon,
            "aio-mc-rcon": asyncio.run(read_aio_mc_rcon()),
            "mcsmp": asyncio.run(read_mcsmp()),
        },
        default=str,
    )
)
