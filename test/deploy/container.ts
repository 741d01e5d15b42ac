import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { eventually } from '../support/frame-store.ts';
import { childrenOf } from '../support/process-facts.ts';

const run = promisify(execFile);

/** A folder of this machine in a container. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly isReadOnly?: boolean;
}

export interface ContainerOptions {
  /** Its root. What an image of Node on Debian has is added: system folders of this machine, Node and npm. */
  readonly rootfs: string;
  readonly node: string;
  readonly mounts?: readonly Mount[];
  /** Size of file systems in memory, by their place. */
  readonly memoryMounts?: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
}

/** As platforms start what they do not trust. */
export interface ServiceOptions extends ContainerOptions {
  /** Of user and group. */
  readonly uid: number;
  readonly command: readonly string[];
}

export interface Container extends AsyncDisposable {
  /** What a further process in it prints. Rejects where that fails. */
  exec(command: readonly string[], input?: string): Promise<string>;
  log(): string;
  /** The main process, by its number here. */
  pid(): number;
  /** Ends it with SIGTERM. Resolves with its exit code. */
  stop(): Promise<number | null>;
}

/**
 * Makes the root and starts the command in it. `usr` is that of this machine, read-only, and `etc` a copy; `usr/local` is the
 * container's own, with Node and npm.
 */
const script = `
  mount --make-rprivate /
  mount --bind "$ROOTFS" "$ROOTFS"
  cd "$ROOTFS"
  for name in bin sbin lib lib32 lib64; do
    if [ -L "/$name" ]; then ln -sfn "$(readlink "/$name")" "$name"
    elif [ -d "/$name" ]; then mkdir -p "$name"; mount --bind -o ro "/$name" "$name"; fi
  done
  mkdir -p usr etc proc dev tmp local/bin local/lib/node_modules/npm
  touch local/bin/node
  ln -sfn ../lib/node_modules/npm/bin/npm-cli.js local/bin/npm
  mount --bind -o ro /usr usr
  mount -t tmpfs tmpfs etc
  cp -a /etc/. etc
  mount --bind local usr/local
  mount --bind -o ro "$NODE" usr/local/bin/node
  npm=$(readlink -f "$(command -v npm)")
  mount --bind -o ro "\${npm%/bin/*}" usr/local/lib/node_modules/npm
  mount -t proc proc proc
  mount -t tmpfs -o size=64k,mode=755 tmpfs dev
  for name in null zero full random urandom; do touch "dev/$name"; mount --bind "/dev/$name" "dev/$name"; done
  while IFS=$'\t' read -r kind to value; do
    [ -n "$kind" ] || continue
    if [ -f "$value" ]; then mkdir -p "$(dirname ".$to")"; touch ".$to"; else mkdir -p ".$to"; fi
    case "$kind" in
      memory) mount -t tmpfs -o "size=$value,mode=1777" tmpfs ".$to" ;;
      bind) mount --bind "$value" ".$to" ;;
      bind-ro) mount --bind "$value" ".$to"; mount -o remount,bind,ro ".$to" ;;
    esac
  done <<< "$MOUNTS"
  if [ -n "$IS_SERVICE" ]; then
    ip link set lo up
    mount -o remount,bind,ro etc
    mount -o remount,bind,ro usr/local
    mount -o remount,bind,ro "$ROOTFS"
  fi
  exec chroot "$ROOTFS" "$@"`;

const imagePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A command with these variables and no others. */
function inEnvironment({ env, workingDirectory }: ContainerOptions): readonly string[] {
  const variables = Object.entries({ PATH: imagePath, ...env }).map(([name, value]) => `${name}=${value}`);
  return ['env', '--ignore-environment', `--chdir=${workingDirectory}`, ...variables];
}

/** No rights, and no way to gain some. */
function withoutRights({ uid }: ServiceOptions): readonly string[] {
  const ids = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  return ['setpriv', ...ids, '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
}

function scriptEnvironment(options: ContainerOptions, isService: boolean): NodeJS.ProcessEnv {
  const { rootfs, node, mounts = [], memoryMounts = {} } = options;
  const lines = [
    ...Object.entries(memoryMounts).map(([to, size]) => `memory\t${to}\t${size}`),
    ...mounts.map(({ from, to, isReadOnly }) => `bind${isReadOnly === true ? '-ro' : ''}\t${to}\t${from}`),
  ];
  return {
    ...{ PATH: process.env.PATH, ROOTFS: rootfs, NODE: node },
    ...{ MOUNTS: lines.join('\n'), IS_SERVICE: isService ? 'yes' : '' },
  };
}

/** Runs a RUN of an image: as root, on the network of this machine. */
export async function runInImage(options: ContainerOptions, command: string): Promise<void> {
  const inside = [...inEnvironment(options), '/bin/sh', '-c', command];
  const args = ['--mount', '--pid', '--fork', '--kill-child', 'bash', '-euc', script, 'bash', ...inside];
  await run('unshare', args, { env: scriptEnvironment(options, false) });
}

/** A root that cannot be written, a network of its own, 64 MB of shared memory: as container platforms start it. */
export async function startContainer(options: ServiceOptions): Promise<Container> {
  const prefix = [...inEnvironment(options), ...withoutRights(options)];
  const namespaces = ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--kill-child'];
  const memoryMounts = { '/dev/shm': '64m', ...options.memoryMounts };
  const child = spawn('unshare', [...namespaces, 'bash', '-euc', script, 'bash', ...prefix, ...options.command], {
    env: scriptEnvironment({ ...options, memoryMounts }, true),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  const exited = once(child, 'exit');
  const main = (): number => {
    const [pid] = childrenOf(child.pid as number);
    if (pid === undefined) throw new Error(`the container has ended: ${log}`);
    return pid;
  };
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of childrenOf(child.pid as number)) process.kill(pid, name);
  };
  const container: Container = {
    async exec(command, input = '') {
      const enter = ['--target', String(main()), '--mount', '--pid', '--net', '--root', '--wd'];
      const running = run('nsenter', [...enter, ...prefix, ...command]);
      running.child.stdin?.end(input);
      return (await running).stdout;
    },
    log: () => log,
    pid: main,
    async stop() {
      signal('SIGTERM');
      const [code] = await exited;
      return code as number | null;
    },
    async [Symbol.asyncDispose]() {
      signal('SIGKILL');
      await exited;
    },
  };
  // Before, a further process would be in the root of this machine.
  await eventually(async () => child.exitCode !== null || childrenOf(child.pid as number).some(hasOwnRoot));
  if (child.exitCode !== null) throw new Error(`the container could not be made: ${log}`);
  return container;
}

function hasOwnRoot(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/root`) !== '/';
  } catch {
    return false;
  }
}
