import { descriptorsIn, type SystemCall, textsIn } from '../harness/system-calls.ts';

/** A connection that the server took, and what it sent on it that says a request was done. */
export interface Reply {
  /** Lines of the trace. */
  readonly acceptedAt: number;
  readonly repliedAt: number | undefined;
}

export const socketCalls = ['accept4', 'write', 'writev', 'sendto', 'sendmsg'];

const dataFrame = 0;
const headersFrame = 1;
const endOfStream = 1;

/** Every connection in the order of their coming, with the call that sent the first byte of its reply. */
export function repliesIn(calls: readonly SystemCall[]): Reply[] {
  const taken: { acceptedAt: number; repliedAt: number | undefined; sent: string }[] = [];
  // By the number of the socket: strace finds its ports in a list of all sockets, and misses some where others come and go.
  const open = new Map<string, (typeof taken)[number]>();
  for (const { name, args, result, beganAt } of calls) {
    if (name === 'accept4') {
      const [socket = ''] = descriptorsIn(result);
      const connection = { acceptedAt: beganAt, repliedAt: undefined, sent: '' };
      taken.push(connection);
      open.set(socket, connection);
      continue;
    }
    const [to = ''] = descriptorsIn(args);
    const socket = open.get(to);
    if (socket === undefined || !socketCalls.includes(name)) continue;
    socket.sent += textsIn(args).join('');
    if (socket.sent.startsWith('HTTP/') || hasGrpcReply(socket.sent)) socket.repliedAt ??= beganAt;
  }
  return taken;
}

/** Whether there is a message or an end among these HTTP/2 frames; settings and the like are no answer. */
function hasGrpcReply(sent: string): boolean {
  const bytes = Buffer.from(sent, 'latin1');
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const [type, flags = 0] = [bytes[at + 3], bytes[at + 4]];
    if (type === dataFrame || (type === headersFrame && (flags & endOfStream) !== 0)) return true;
  }
  return false;
}
