// The keys with which an API server encrypts: a file that it reads when it starts. Secrets have one
// key at first, and after a change another one before it; one kind of ours has its own for ever.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GROUP } from '../../builders/versioned-kind.ts';

/** The kind whose objects are encrypted. */
export const ENCRYPTED = 'locks';

interface Key {
  readonly name: string;
  readonly secret: string;
}

const makeKey = (name: string): Key => ({ name, secret: randomBytes(32).toString('base64') });

export class Keys {
  readonly path: string;
  readonly #first = makeKey('first');
  readonly #own = makeKey('own');

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<Keys> {
    const dir = await mkdtemp(join(tmpdir(), 'ballast-keys-'));
    const keys = new Keys(join(dir, 'encryption.json'));
    await keys.#write([keys.#first]);
    return keys;
  }

  /** Writes from then on use another key; the API server has to be restarted. */
  change(): Promise<void> {
    return this.#write([makeKey('second'), this.#first]);
  }

  remove(): Promise<void> {
    return rm(dirname(this.path), { recursive: true });
  }

  /** The name of the key that a stored value was encrypted with. */
  static nameIn(value: string): string {
    return /^k8s:enc:aescbc:v1:([^:]+):/.exec(value)?.[1] ?? 'none';
  }

  async #write(keys: readonly Key[]): Promise<void> {
    const config = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [
        { resources: ['secrets'], providers: [{ aescbc: { keys } }, { identity: {} }] },
        {
          resources: [`${ENCRYPTED}.${GROUP}`],
          providers: [{ secretbox: { keys: [this.#own] } }, { identity: {} }],
        },
      ],
    };
    await writeFile(this.path, JSON.stringify(config));
  }
}
