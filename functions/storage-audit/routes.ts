// The questions over HTTP: `GET /audit` about the etcd of this instance, `POST /audit` about the
// snapshot in the body.
import { UsageError } from '../../shared/arguments.ts';
import type { EtcdClient } from '../../shared/etcd/client.ts';
import { snapshotIn } from '../../shared/etcd/snapshot/snapshot.ts';
import { Failure } from '../../shared/errors.ts';
import type { KeyReader } from '../../shared/kube/key-reader.ts';
import type { Answer as Reply, Route } from '../../shared/function/define.ts';
import { type Answer, auditClient, auditSnapshot, type AuditOptions } from './audit.ts';
import { EXAMPLES_MAX, examplesOf, resourceOf } from './options.ts';
import { pageOf } from './page.ts';

export interface Deps {
  /** Undefined when none was configured. */
  readonly etcd: EtcdClient | undefined;
  readonly prefixes: readonly string[];
  /** Reads the keys that sign callers' tokens. */
  readonly keys: KeyReader;
}

/** It is held in memory; the manifest has room for two of them. */
const SNAPSHOT_BYTES_MAX = 64 * 1024 * 1024;

export const routes: readonly Route<Deps>[] = [
  {
    method: 'GET',
    path: '/audit',
    summary: 'what the etcd of this instance holds; ?resource=widgets.example.com&examples=10',
    handle: async ({ query }, { deps, signal }) => {
      const { etcd, prefixes } = deps;
      if (etcd !== undefined) {
        const options = { ...optionsIn(query), prefixes, signal };
        return replyOf(await auditClient(etcd, options));
      }
      const message =
        'This instance has no etcd: set ETCD_ENDPOINTS, or POST a snapshot to /audit.';
      throw new Failure('ETCD_UNSET', message);
    },
  },
  {
    method: 'POST',
    path: '/audit',
    summary: `what the snapshot in the body holds; up to ${SNAPSHOT_BYTES_MAX / 2 ** 20} MiB`,
    takesFile: {
      sizeBytesMax: SNAPSHOT_BYTES_MAX,
      advice: 'run the command where the file is: node storage-audit.mjs FILE',
    },
    handle: async ({ query, file = Buffer.alloc(0) }, { deps: { prefixes }, signal }) => {
      const options = { ...optionsIn(query), prefixes, signal };
      const snapshot = snapshotIn(file, { signal });
      return replyOf(await auditSnapshot('the snapshot that was sent', snapshot, options));
    },
  },
];

const replyOf = (answer: Answer): Reply => ({ body: answer, text: pageOf(answer) });

function optionsIn(query: URLSearchParams): Pick<AuditOptions, 'resources' | 'examplesMax'> {
  for (const name of query.keys()) {
    if (name !== 'resource' && name !== 'examples') {
      throw invalid(name, `There is no parameter ${name}; there are resource and examples.`);
    }
  }
  const names = query.getAll('resource');
  const examples = query.get('examples');
  return {
    resources:
      names.length === 0
        ? undefined
        : names.map((name) => readAs('resource', () => resourceOf(name))),
    examplesMax: examples === null ? undefined : readAs('examples', () => examplesOf(examples)),
  };
}

const WANTED = {
  resource: 'A resource is named as widgets.example.com, or secrets.',
  examples: `examples is a whole number from 0 to ${EXAMPLES_MAX}.`,
} as const;

/** The command's own reading, refused in the words of a query. */
function readAs<Value>(name: keyof typeof WANTED, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw invalid(name, WANTED[name]);
  }
}

const invalid = (field: string, message: string): Failure =>
  new Failure('QUERY_INVALID', message, { field });
