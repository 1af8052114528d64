// Command-line options of `npm run release`; every wrong one is named.
import type { KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { readArguments, refuseWords, UsageError } from '../../../shared/arguments.ts';
import { functionNames } from '../build/function-names.ts';
import { refuseNoRepository } from '../images/options.ts';
import { signingKey } from './signature.ts';

export interface ReleaseOptions {
  /** Functions whose images are in it. */
  readonly functions: readonly string[];
  readonly outDir: string;
  readonly repository: string;
  /** Where its files will be; absent when nobody knows yet. */
  readonly url?: string;
  readonly key?: KeyObject;
}

const OUT = 'dist/release';

const OPTIONS = {
  out: { type: 'string' },
  repository: { type: 'string' },
  url: { type: 'string' },
  'sign-with': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const USAGE = `\
usage: npm run release -- --repository NAME [--url URL] [--sign-with FILE] [--out DIR]

Makes all that is published of this version, for this machine's architecture: images, chart,
manifests with images by digest, kubectl ballast, the reader, a bill of materials (CycloneDX) of
each that has code, and SHA256SUMS over all of them. Nothing is pushed: docs/release.md.

  --repository NAME  what names of images begin with, such as images.example.com/ballast
  --url URL          where these files will be, for krew; https
  --sign-with FILE   a private key (ECDSA on P-256, PEM) that signs SHA256SUMS
  --out DIR          where they go (${OUT})
  -h, --help         this text
`;

/** Undefined when help was asked for. */
export async function releaseOptions(args: readonly string[]): Promise<ReleaseOptions | undefined> {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  refuseWords(positionals);
  const { out = OUT, repository, url, 'sign-with': keyPath } = values;
  if (out === '') throw new UsageError('--out wants a directory');
  if (repository === undefined) throw new UsageError('--repository is wanted');
  refuseNoRepository(repository);
  return {
    functions: await functionNames(),
    outDir: resolve(out),
    repository,
    ...(url === undefined ? {} : { url: addressIn(url) }),
    ...(keyPath === undefined ? {} : { key: await signingKey(keyPath) }),
  };
}

/** Without a slash at the end. */
function addressIn(text: string): string {
  if (!/^https:\/\/[^\s?#]+$/.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--url wants an https address without a query, not ${text}`);
  }
  return text.replace(/\/+$/, '');
}
