import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRole, isTenant, type Principal, type Role, type Tenant } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { errnoOf } from '../core/errors/storage-error.ts';
import { randomBase32 } from '../core/names/handle.ts';
import { parseChecksummed, withChecksum } from '../frames/disk/checksummed-json.ts';
import { type DurableFiles, storage } from '../frames/disk/durable-file.ts';

const prefix = 'fhs_';
const keyBytes = 32;

/** The tenant and caller of a session token. */
export interface SessionClaims {
  readonly tenant: Tenant;
  readonly name: string;
  readonly role: Role;
  readonly credentialId: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export function looksLikeSessionToken(secret: string): boolean {
  return secret.startsWith(prefix);
}

/**
 * Tokens for drivers that want one from the Handshake, for callers with certificates: `fhs_`, the claims, and a signature. The
 * key is beside the access records, so every server of the directory accepts them, and none is stored.
 */
export class SessionTokens {
  readonly #folder: string;
  readonly #durable: DurableFiles;
  #key: Promise<Buffer | undefined> | undefined;

  constructor(coldDirectory: string, durable: DurableFiles) {
    this.#folder = join(coldDirectory, '.framehold', 'access');
    this.#durable = durable;
  }

  async issue({ tenant, name, role, credentialId, expiresAt }: Principal): Promise<string> {
    const key = (await this.#readKey()) ?? (await this.#makeKey());
    const body =
      prefix + Buffer.from(JSON.stringify([tenant, name, role, credentialId, expiresAt])).toString('base64url');
    return `${body}.${signatureOf(body, key).toString('base64url')}`;
  }

  /** Undefined for a token that no server of the directory has issued. The caller checks whether it has ended. */
  async verify(token: string): Promise<SessionClaims | undefined> {
    const key = await this.#readKey();
    const dot = token.lastIndexOf('.');
    if (key === undefined || dot < 0) return undefined;
    const body = token.slice(0, dot);
    const signature = Buffer.from(token.slice(dot + 1), 'base64url');
    const expected = signatureOf(body, key);
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined;
    return parseClaims(JSON.parse(Buffer.from(body.slice(prefix.length), 'base64url').toString()));
  }

  /** Undefined while there is none. */
  #readKey(): Promise<Buffer | undefined> {
    this.#key ??= this.#loadKey().then(
      (key) => {
        if (key === undefined) this.#key = undefined;
        return key;
      },
      (error) => {
        this.#key = undefined;
        throw error;
      },
    );
    return this.#key;
  }

  async #loadKey(): Promise<Buffer | undefined> {
    let text: string;
    try {
      text = await storage(() => readFile(this.#path, 'utf8'));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    const value = parseChecksummed(text) as { readonly key?: unknown } | undefined;
    const key = typeof value?.key === 'string' ? Buffer.from(value.key, 'base64') : undefined;
    if (key?.length === keyBytes) return key;
    throw new AppError('auth_unavailable', 'the key of session tokens is damaged', {
      hint: 'let the operator remove .framehold/access/session-key.json of the cold directory',
    });
  }

  /** The first of several servers makes it. */
  async #makeKey(): Promise<Buffer> {
    await this.#durable.makeFolder(this.#folder);
    const temporary = join(this.#folder, `.${randomBase32(16)}`);
    try {
      const text = withChecksum({ key: randomBytes(keyBytes).toString('base64') });
      await this.#durable.writeFile(temporary, text, 0o600);
      await this.#durable.linkNew(temporary, this.#path);
      await this.#durable.syncDirectory(this.#folder);
    } finally {
      await rm(temporary, { force: true });
    }
    const key = await this.#readKey();
    if (key === undefined) throw new AppError('auth_unavailable', 'the key of session tokens cannot be kept');
    return key;
  }

  get #path(): string {
    return join(this.#folder, 'session-key.json');
  }
}

function signatureOf(body: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(body).digest();
}

function parseClaims(value: unknown): SessionClaims | undefined {
  if (!Array.isArray(value)) return undefined;
  const [tenant, name, role, credentialId, expiresAt] = value as unknown[];
  if (typeof tenant !== 'string' || !isTenant(tenant) || typeof role !== 'string' || !isRole(role)) return undefined;
  if (typeof name !== 'string' || typeof credentialId !== 'string' || typeof expiresAt !== 'number') return undefined;
  return { tenant, name, role, credentialId, expiresAt };
}
