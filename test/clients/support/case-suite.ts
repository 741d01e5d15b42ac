import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Framehold, startFramehold } from '../../support/framehold.ts';
import { caseNames } from './case-names.ts';
import { CaseProgram } from './case-program.ts';

export interface CaseSuite {
  readonly client: string;
  /** Path of the source file that holds the cases. */
  readonly source: string;
  /** The program without the addresses of the server, which come last; undefined where it cannot run here. */
  readonly command: readonly string[] | undefined;
  /** Default: a server with no settings. */
  readonly start?: () => Promise<CaseServer>;
}

/** A server, and what else the program is told, behind its addresses. */
export interface CaseServer extends Framehold {
  readonly more?: readonly string[];
}

/** A test a case of a client program, all before one server. */
export function caseSuite({ client, source, command, start = startFramehold }: CaseSuite): void {
  const names = caseNames(source);
  describe.skipIf(command === undefined)(client, () => {
    let server: CaseServer;
    let program: CaseProgram;
    beforeAll(async () => {
      server = await start();
      program = new CaseProgram([...(command ?? []), grpcAddress(server), server.url, ...(server.more ?? [])], names);
    });
    afterAll(async () => {
      await program[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });
    // The program ends itself when a case takes 20 seconds, and tells where it was.
    for (const name of names) test(name, { timeout: 30_000 }, () => program.run(name));
  });
}

/** `host:port` */
export function grpcAddress({ grpcAddress: { host, port } }: Framehold): string {
  return `${host}:${port}`;
}
