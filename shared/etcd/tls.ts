// The certificates by which a member and we know each other: PEM texts, or files that hold them.
import { readFile } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import { reasonOf } from './errors.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  readonly caPath?: string | undefined;
  readonly certPath?: string | undefined;
  readonly keyPath?: string | undefined;
}

/** PEM. Where a file is named as well, the text counts. */
export interface TlsTexts {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export type EtcdTls = TlsFiles & TlsTexts;

export async function readTls(tls: EtcdTls = {}): Promise<Record<string, string>> {
  const { caPath, certPath, keyPath, ca, cert, key } = tls;
  const parts = [
    readPart('ca', ca, caPath),
    readPart('cert', cert, certPath),
    readPart('key', key, keyPath),
  ];
  return Object.assign({}, ...(await Promise.all(parts)));
}

async function readPart(
  name: string,
  text: string | undefined,
  path: string | undefined,
): Promise<Record<string, string>> {
  if (text !== undefined) return { [name]: text };
  return path === undefined ? {} : { [name]: await readPem(path) };
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const message = `The PEM file for etcd cannot be read (${reasonOf(cause)}): name one that can.`;
    throw new Failure('ETCD_ACCESS_UNREADABLE', message, { object: path, cause });
  }
}
