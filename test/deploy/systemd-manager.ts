import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { access, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { debianPackage } from '../support/debian-package.ts';
import { eventually } from '../support/frame-store.ts';
import { childrenOf } from '../support/process-facts.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../', import.meta.url));
export const systemdFiles = join(root, 'deploy/systemd');

/** Units of Debian that others depend on. Their own dependencies would start half a system. */
const targets = ['basic.target', 'multi-user.target', 'shutdown.target', 'sysinit.target'];

/** How systemd's programs are called on this machine: the variables that they need, with a PATH that has them. */
export type SystemdEnvironment = Readonly<Record<'PATH', string> & Partial<Record<'LD_LIBRARY_PATH', string>>>;

export async function writeTargets(folder: string): Promise<void> {
  for (const target of targets) await writeFile(join(folder, target), `[Unit]\nDescription=${target}\n`);
}

/** Those that are installed, or those of Debian's package. Throws Missing. */
export async function systemdEnvironment(): Promise<SystemdEnvironment> {
  const path = process.env.PATH ?? '';
  const installed = ['/usr/lib/systemd/systemd', '/usr/bin/systemd-notify', '/usr/bin/systemd-analyze'];
  if ((await Promise.allSettled(installed.map((file) => access(file)))).every(({ status }) => status === 'fulfilled'))
    return { PATH: path };
  const folder = await debianPackage('systemd', 'usr/bin/systemd-analyze');
  const [library = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /libsystemd-shared-\d+\.so$/.test(name),
  );
  const folders = ['bin', 'usr/bin', 'lib/systemd', 'usr/lib/systemd'].map((name) => join(folder, name));
  return { PATH: [...folders, path].join(':'), LD_LIBRARY_PATH: join(folder, dirname(library)) };
}

export interface SystemdManager extends AsyncDisposable {
  /** What a command prints that runs where the service does, as root. Rejects where it fails. */
  run(...command: readonly string[]): Promise<string>;
  /** One property of the service. */
  show(property: string): Promise<string>;
  /** The main process of the service, by its number here. */
  mainPid(): Promise<number>;
  /** What the service has written to standard error. */
  log(): string;
  /** In the place of the settings that it began with. */
  configure(config: string): Promise<void>;
}

export interface SystemdOptions {
  readonly environment: SystemdEnvironment;
  /** The settings of the server, as TOML. */
  readonly config: string;
  /** Added to the unit, as `systemctl edit` does. */
  readonly dropIn: string;
}

/** Its namespace of cgroups begins where it is: below, it touches nothing of this machine's. */
const outside = `
  mkdir "$CGROUPS/framehold-$$"
  echo $$ > "$CGROUPS/framehold-$$/cgroup.procs"
  exec unshare --mount --cgroup --pid --uts --fork --kill-child bash -euc "$1" inside "$2" "$3" "$4"`;

const inside = `
  mount --make-rprivate /
  umount --recursive /sys/fs/cgroup
  mount -t cgroup2 none /sys/fs/cgroup
  mount -t proc proc /proc
  mount --bind /proc/sys /proc/sys
  mount -o remount,bind,ro /proc/sys
  mkdir "$1/etc"
  cp -a /etc/. "$1/etc"
  mkdir "$1/etc/framehold"
  mv "$1/config.toml" "$1/etc/framehold"
  mount --bind "$1/etc" /etc
  systemd-sysusers "$2/deploy/systemd/sysusers.conf"
  mount --bind "$2" "$1/opt/framehold"
  mount --rbind "$1/opt" /opt
  ln -s /opt/framehold/dist/main.js "$1/bin/framehold"
  touch "$1/bin/node"
  mount --bind "$3" "$1/bin/node"
  mount --rbind "$1/bin" /usr/local/bin
  mount --bind "$1/vartmp" /var/tmp
  mount --bind "$1/log" /var/log
  mount --bind "$1/lib" /var/lib
  mount -t tmpfs tmpfs /run
  mkdir -p /run/systemd
  mount --bind "$1/units" /mnt
  mount -t tmpfs tmpfs /tmp
  export container=other SYSTEMD_UNIT_PATH=/mnt SYSTEMD_GENERATOR_PATH=/nonexistent
  PATH="$PATH:/usr/lib/systemd:/lib/systemd"
  exec systemd --system --unit=basic.target --show-status=no --log-target=console`;

/**
 * A systemd that manages framehold.service as it is shipped. It is the first process of its own namespaces, with folders of its
 * own in the places where a service may write, and the build in the place where the guide installs it.
 */
export async function startSystemd({ environment, config, dropIn }: SystemdOptions): Promise<SystemdManager> {
  const directory = await temporaryDirectory();
  const file = (...names: string[]): string => join(directory.path, ...names);
  const units = file('units');
  for (const name of ['lib', 'log', 'vartmp', 'bin', 'opt/framehold', 'units/framehold.service.d'])
    await mkdir(file(name), { recursive: true });
  await writeTargets(units);
  await cp(join(systemdFiles, 'framehold.service'), join(units, 'framehold.service'));
  await writeFile(join(units, 'framehold.service.d/test.conf'), `${dropIn}\nStandardError=append:/var/log/stderr\n`);
  await writeFile(file('config.toml'), config);
  const child = spawn('bash', ['-euc', outside, 'outside', inside, directory.path, root, process.execPath], {
    env: { ...environment, CGROUPS: cgroupMount() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = once(child, 'exit');
  const runInside = async (...command: readonly string[]): Promise<string> => {
    const [manager] = childrenOf(child.pid as number);
    if (manager === undefined) throw new Error(`systemd has ended: ${output}`);
    const enter = ['--target', String(manager), '--mount', '--pid', '--cgroup', ...command];
    return (
      await run('nsenter', enter, { env: { ...environment, PATH: `/usr/local/bin:${environment.PATH}` } })
    ).stdout.trim();
  };
  const show = (property: string): Promise<string> =>
    runInside('systemctl', 'show', 'framehold.service', '--value', '--property', property);
  const manager: SystemdManager = {
    run: runInside,
    show,
    async mainPid() {
      const number = await show('MainPID');
      const isIt = (pid: number): boolean => new RegExp(`^NSpid:.*\\s${number}$`, 'm').test(statusText(pid));
      const found = childrenOf(childrenOf(child.pid as number)[0] ?? 0).find(isIt);
      if (found === undefined) throw new Error(`the service has no main process: ${manager.log()}`);
      return found;
    },
    log: () => readFileSync(file('log/stderr'), 'utf8'),
    configure: (text) => writeFile(file('etc/framehold/config.toml'), text),
    async [Symbol.asyncDispose]() {
      // Its death is that of all in its namespace; unshare sees it off.
      for (const pid of childrenOf(child.pid as number)) process.kill(pid, 'SIGKILL');
      await exited;
      await eventually(async () => removeCgroup(join(cgroupMount(), `framehold-${child.pid}`)));
      await directory[Symbol.asyncDispose]();
    },
  };
  try {
    await eventually(() =>
      runInside('systemctl', 'show', '--property', 'Version').then(
        () => true,
        () => false,
      ),
    );
  } catch {
    await manager[Symbol.asyncDispose]();
    throw new Error(`systemd did not start: ${output}`);
  }
  return manager;
}

function statusText(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

/** Where the hierarchy of the second version is mounted. */
function cgroupMount(): string {
  const [, path] = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
  if (path === undefined) throw new Error('there are no cgroups of version 2 here');
  return path;
}

/** False while a process is in it. */
async function removeCgroup(path: string): Promise<boolean> {
  try {
    const folders = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { parentPath, name } of folders.reverse()) rmdirSync(join(parentPath, name));
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
