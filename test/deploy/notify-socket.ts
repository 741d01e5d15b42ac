import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Prints each message, without that of the barrier, which waits until its file is closed. */
const program = `
import array, os, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("bound", flush=True)
while True:
    data, ancillary, _, _ = receiver.recvmsg(65536, socket.CMSG_LEN(64))
    for level, kind, content in ancillary:
        if kind == socket.SCM_RIGHTS:
            files = array.array("i")
            files.frombytes(content[: len(content) - len(content) % files.itemsize])
            for file in files:
                os.close(file)
    if data != b"BARRIER=1":
        print(data.decode(), flush=True)
`;

export interface NotifySocket extends AsyncDisposable {
  /** For NOTIFY_SOCKET. */
  readonly path: string;
  /** What came so far. */
  messages(): readonly string[];
}

/** A service manager that only listens. Node has no sockets of this kind; Python has. */
export async function openNotifySocket(): Promise<NotifySocket> {
  const directory = await temporaryDirectory();
  const path = join(directory.path, 'notify');
  const child = spawn('python3', ['-c', program, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const messages = (): readonly string[] => printed.trimEnd().split('\n').slice(1);
  await Promise.race([once(child.stdout, 'data'), exited]);
  return {
    path,
    messages,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      await directory[Symbol.asyncDispose]();
    },
  };
}
