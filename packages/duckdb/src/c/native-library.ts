import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import koffi, { type LibraryHandle } from 'koffi';

const require = createRequire(import.meta.url);
const stackBytes = 16 * 1024 * 1024;

// koffi runs calls on stacks of its own, of 128 KiB by default: DuckDB's planner overruns that with a hundred nested calls.
// It can be changed only before any library is loaded; where tests share a process, one of them has.
if ((koffi.config().async_stack_size ?? 0) < stackBytes)
  koffi.config({ sync_stack_size: stackBytes, async_stack_size: stackBytes });

const libraryFileNames = ['libduckdb.so', 'libduckdb.dylib', 'duckdb.dll'];

/** The C API that the bindings in c-api.ts were written against. */
const supportedVersion = /^v1\.5\./;

/** DuckDB's shared library, which its npm bindings carry beside the Node addon. */
export function loadDuckDb(): LibraryHandle {
  const packageName = `@duckdb/node-bindings-${process.platform}-${process.arch}`;
  let directory: string;
  try {
    directory = dirname(require.resolve(`${packageName}/package.json`, { paths: [bindingsDirectory()] }));
  } catch (cause) {
    throw new Error(`DuckDB has no library for ${process.platform}-${process.arch} (package ${packageName})`, {
      cause,
    });
  }
  const fileName = readdirSync(directory).find((name) => libraryFileNames.includes(name));
  if (fileName === undefined) throw new Error(`${packageName} holds none of ${libraryFileNames.join(', ')}`);
  // We call a few of its thousands of functions: binding all takes a worker's start 10 ms.
  const library = koffi.load(join(directory, fileName), { lazy: true });
  const version = library.func('const char* duckdb_library_version()')() as string;
  if (!supportedVersion.test(version))
    throw new Error(`DuckDB ${version} is not of the 1.5 line that this build calls`);
  return library;
}

export function loadLibc(): LibraryHandle {
  const name =
    process.platform === 'win32' ? 'msvcrt.dll' : process.platform === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6';
  return koffi.load(name);
}

function bindingsDirectory(): string {
  return dirname(require.resolve('@duckdb/node-bindings/package.json'));
}
