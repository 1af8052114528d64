// The new CRDs, out of files, directories or standard input with many documents, of which all
// others are passed by. A file that is to be rendered first is refused with the command for it.
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { UsageError } from '../../../shared/arguments.ts';
import { Failure } from '../../../shared/errors.ts';
import { textOf } from '../../../shared/kube/json.ts';
import { type Crd, CRD_GROUP, CRD_KIND, crdOf, recordOf } from './crd.ts';

export type Input = AsyncIterable<Uint8Array | string>;

/** A project's CRDs are a few megabytes; what is more is no rendering of CRDs. */
const BYTES_MAX = 64 * 1024 * 1024;
const STDIN = '-';
const ENDINGS = new Set(['.yaml', '.yml', '.json']);
/** The file that makes a directory more than that, and how it is rendered. */
const RENDERED: Readonly<Record<string, string>> = {
  'kustomization.yaml': 'kubectl kustomize',
  'kustomization.yml': 'kubectl kustomize',
  'Chart.yaml': 'helm template --include-crds',
};

/** In the order of their names. Throws when there is none. */
export async function readCrds(paths: readonly string[], stdin: Input): Promise<readonly Crd[]> {
  const found = new Map<string, { readonly crd: Crd; readonly place: string }>();
  let bytesLeft = BYTES_MAX;
  for (const path of (await Promise.all(paths.map(filesIn))).flat()) {
    const text = await textIn(path, stdin, bytesLeft);
    bytesLeft -= Buffer.byteLength(text);
    for (const [place, crd] of crdsIn(text, path)) {
      const before = found.get(crd.name);
      if (before !== undefined) {
        throw unreadable(place, `has ${crd.name}, and so has ${before.place}: name one of them`);
      }
      found.set(crd.name, { crd, place });
    }
  }
  if (found.size === 0) {
    const where = paths.map(shown).join(', ');
    const message = `There is no ${CRD_KIND} in ${where}. Name files that have the new ones.`;
    throw new Failure('CRDS_ABSENT', message);
  }
  const crds = [...found.values()].map(({ crd }) => crd);
  return crds.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function filesIn(path: string): Promise<readonly string[]> {
  if (path === STDIN) return [path];
  try {
    const found = await stat(path);
    if (!found.isDirectory()) return [path];
    const names = (await readdir(path, { withFileTypes: true })).filter(
      ({ name }) => !name.startsWith('.'),
    );
    for (const { name } of names) {
      const command = RENDERED[name];
      if (command !== undefined) throw new UsageError(notRendered(path, name, command));
    }
    const below = names
      .filter((entry) => entry.isDirectory() || ENDINGS.has(extname(entry.name)))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name }) => filesIn(join(path, name)));
    return (await Promise.all(below)).flat();
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw unreadable(path, `cannot be read (${reasonOf(cause)})`, cause);
  }
}

const notRendered = (path: string, name: string, command: string): string =>
  `${path} has a ${name}, so its files are not what is applied: ` +
  `${command} ${path} | npm run -s audit -- --against -`;

async function textIn(path: string, stdin: Input, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of path === STDIN ? stdin : createReadStream(path)) {
      const bytes = Buffer.from(chunk);
      sizeBytes += bytes.length;
      if (sizeBytes > bytesMax) throw new Error(`more than ${BYTES_MAX / 2 ** 20} MiB in all`);
      chunks.push(bytes);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw unreadable(path, `cannot be read (${reasonOf(cause)})`, cause);
  }
}

/** A line of three dashes ends a document wherever it stands; no text of YAML can hold it. */
const SEPARATOR = /^---(?=\s|$).*$/m;
/** Rendered files have thousands of documents that need not be understood. */
const MAY_HAVE_CRD = /^(?:"?kind"?:\s*["']?(?:CustomResourceDefinition|List)|\s*[{[])/m;

function* crdsIn(text: string, path: string): Generator<readonly [string, Crd]> {
  for (const [index, document] of text.split(SEPARATOR).entries()) {
    if (!MAY_HAVE_CRD.test(document)) continue;
    const place = index === 0 ? shown(path) : `${shown(path)} (document ${index + 1})`;
    for (const object of objectsIn(document, place)) {
      const crd = readCrd(object, place);
      if (crd !== undefined) yield [place, crd];
    }
  }
}

function objectsIn(document: string, place: string): readonly unknown[] {
  const content = contentOf(document, place);
  const { kind, items } = recordOf(content);
  return textOf(kind).endsWith('List') && Array.isArray(items) ? items : [content];
}

function contentOf(document: string, place: string): unknown {
  try {
    const parsed = parseDocument(document, { logLevel: 'error' });
    const [error] = parsed.errors;
    if (error !== undefined) throw error;
    return parsed.toJS();
  } catch (cause) {
    throw unreadable(place, `is no YAML (${reasonOf(cause).split('\n')[0]})`, cause);
  }
}

function readCrd(object: unknown, place: string): Crd | undefined {
  const { apiVersion, kind, metadata } = recordOf(object);
  if (kind !== CRD_KIND) return undefined;
  const name = textOf(recordOf(metadata)['name']);
  if (apiVersion !== `${CRD_GROUP}/v1`) {
    const since = 'no API server takes it since Kubernetes 1.22';
    throw unreadable(place, `has ${name} as ${String(apiVersion)}: ${since}`);
  }
  try {
    return crdOf(object);
  } catch (cause) {
    throw unreadable(place, `has a definition that is none: ${name} ${reasonOf(cause)}`, cause);
  }
}

const shown = (path: string): string => (path === STDIN ? 'standard input' : path);

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const unreadable = (path: string, why: string, cause?: unknown): Failure =>
  new Failure('CRDS_UNREADABLE', `${shown(path)} ${why}.`, {
    object: shown(path),
    ...(cause === undefined ? {} : { cause }),
  });
