#!/usr/bin/env bash
# What Python's libraries do with named sockets, which they find again by the names that the system
# tells them.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
command -v python3 > /dev/null || { echo "no Python"; exit 77; }
cat > "$scratch/sockets.py" << 'END'
import asyncio, multiprocessing, os, socket, socketserver, tempfile, threading

async def echo(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()

async def talk():
    server = await asyncio.start_unix_server(echo, "asyncio")
    print(server.sockets[0].getsockname())
    reader, writer = await asyncio.open_unix_connection("asyncio")
    writer.write(b"line\n")
    print(await reader.readline(), writer.get_extra_info("peername"))
    writer.close()
    server.close()

class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline())

if __name__ == "__main__":
    tempfile.tempdir = os.getcwd()
    with multiprocessing.Manager() as manager:
        shared = manager.dict(first=1)
        child = multiprocessing.Process(target=shared.__setitem__, args=("second", 2))
        child.start()
        child.join()
        print(dict(shared))
    asyncio.run(talk())
    server = socketserver.ThreadingUnixStreamServer("socketserver", Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    client = socket.socket(socket.AF_UNIX)
    client.connect(server.server_address)
    client.send(b"line\n")
    print(client.recv(100), server.server_address, client.getpeername())
    client.close()
    server.shutdown()
    server.server_close()
    thread.join()
END
# The name of Manager's directory is a matter of chance, and is removed at the end.
both "timeout 60 python3 $scratch/sockets.py"
grep -q second "$scratch/plain.out" || { cat "$scratch/plain.out" "$scratch/plain.err"; exit 1; }
echo "Python's sockets: as on a plain directory"
