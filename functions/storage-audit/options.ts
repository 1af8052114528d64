// Command-line options of the audit; every wrong one is named.
import { tmpdir } from 'node:os';
import { readArguments, UsageError } from '../../shared/arguments.ts';
import { endpointOf, ETCD_ARGUMENTS, tlsOf } from '../../shared/etcd/arguments.ts';
import type { EtcdAddress } from '../../shared/etcd/transport.ts';
import { etcdPrefix } from '../../shared/function/etcd-config.ts';
import { type S3Address, S3_ARGUMENTS, S3_USAGE, s3AddressOf } from '../../shared/s3/arguments.ts';
import type { GroupResource } from '../../shared/stored/built-in.ts';

export type Source =
  | ({ readonly kind: 'file'; readonly path: string } & Copied)
  | ({ readonly kind: 's3'; readonly address: S3Address } & Copied)
  | { readonly kind: 'etcd'; readonly address: EtcdAddress; readonly savePath: string | undefined }
  | { readonly kind: 'kube'; readonly kubeconfigPath: string | undefined };

/** How a snapshot comes to this machine's disk, where it is read. */
export interface Copied {
  readonly spoolDir: string;
  /** The key that it was sealed with. */
  readonly keyPath: string | undefined;
}

export interface CommandOptions {
  readonly source: Source;
  readonly prefixes: readonly string[] | undefined;
  readonly resources: readonly GroupResource[] | undefined;
  readonly examplesMax: number | undefined;
  readonly isJson: boolean;
  /** An upgrade that is asked about, instead of what is stored now. */
  readonly against: Against | undefined;
}

export interface Against {
  /** Files, directories, `-` for standard input. */
  readonly paths: readonly string[];
  /** The kubeconfig of an API server that may be written to. */
  readonly scratchPath: string | undefined;
}

/** Finds what runs here, for a command that need not be told. */
export type FindEtcd = (planeDir: string | undefined) => Promise<string>;

export const EXAMPLES_MAX = 1_000;

export const usageOf = (calledAs: string): string => `\
usage: ${calledAs} FILE | s3://BUCKET/KEY | --etcd URL | --kube  [OPTION...]

Is anything stored in an old version? Counts the objects in etcd by kind and version, and says of
each version of each CustomResourceDefinition whether it may be removed. Nothing is changed.

  FILE               a snapshot (etcdctl snapshot save, --save), or the db of a stopped member
  s3://BUCKET/KEY    a snapshot in an object storage, such as a backup
  --snapshot WHERE   the same as either of them
  --etcd URL         a running etcd, as https://10.0.0.1:2379; may be repeated, one that answers is asked
  --cacert FILE      the CA of its certificate
  --cert FILE        our client certificate,
  --key FILE         and its key
  --save FILE        save a snapshot of it there, and read that
  --kube             the API server alone: what it can tell of the --resource that are named
  --kubeconfig FILE  which API server ($KUBECONFIG, or that of kubectl)

  --encrypt-key-file FILE  the key that a backup was encrypted with; one that was not is refused
  --spool DIR        where a copy of the snapshot from the object storage is kept meanwhile, and of
                     one that is encrypted (/tmp)
${S3_USAGE}
  --against FILE     may these new CRDs be applied? A file, a directory, or - for standard input,
                     which may be a whole rendering; may be repeated
  --scratch FILE     the kubeconfig of an API server on which they may be tried, and which is not
                     the one that is asked about

  --resource NAME    only this one, as widgets.example.com, secrets; may be repeated
  --prefix PATH      where the API server keeps its keys (/registry, /kubernetes.io); may be
                     repeated
  --examples N       how many names are told of each row (3; 5 with --against)
  --json             one JSON object
  -h, --help         this text

Ends with 0 when nothing is stored in an old version, with 1 when something is, and with 2 when it
could not be told, or was asked wrongly. With --against: 0 when the upgrade may be applied, 1 when
it may not, 2 when it could not be told.
`;

/** For who runs it beside a control plane of `npm start`. */
export const PLANE_USAGE = `
Without FILE, --etcd or --kube: the etcd of what npm start, or npm run cluster, holds up.
  --plane DIR        which one, when several run: the directory of its kubeconfig
`;

/** For who runs it beside the parts of an API server. */
export const SCRATCH_USAGE = `
Without --scratch, an API server is started for --against, and ended again.
`;

/** Undefined when help was asked for. */
export async function commandOptions(
  args: readonly string[],
  findEtcd: FindEtcd | undefined,
): Promise<CommandOptions | undefined> {
  const { values, positionals } = parse(args, findEtcd !== undefined);
  if (values.help === true) return undefined;
  const { prefix, resource } = values;
  const source = await sourceOf(values, positionals, findEtcd);
  const resources = resource?.map((name) => resourceOf(name));
  const against = againstOf(values);
  if (source.kind === 'kube' && resources === undefined && against === undefined) {
    throw new UsageError('--kube needs a --resource: the API server is asked about each object');
  }
  return {
    source,
    prefixes: prefix?.map((each) => prefixOf(each)),
    resources,
    examplesMax: values.examples === undefined ? undefined : examplesOf(values.examples),
    isJson: values.json ?? false,
    against,
  };
}

function againstOf({ against, scratch, resource }: Values): Against | undefined {
  if (against === undefined) {
    if (scratch !== undefined) throw new UsageError('--scratch goes with --against');
    return undefined;
  }
  if (resource !== undefined) {
    throw new UsageError('--resource does not go with --against: the new CRDs say which');
  }
  return { paths: against, scratchPath: scratch };
}

type Values = ReturnType<typeof parse>['values'];

async function sourceOf(
  values: Values,
  words: readonly string[],
  findEtcd: FindEtcd | undefined,
): Promise<Source> {
  const { etcd, kube = false, save, kubeconfig, plane } = values;
  const [path, ...more] = values.snapshot === undefined ? words : [values.snapshot, ...words];
  if (more.length > 0) throw new UsageError(`one FILE is read, not also ${more.join(' ')}`);
  const named = [path, etcd, kube ? '--kube' : undefined].filter((each) => each !== undefined);
  if (named.length > 1) throw new UsageError('FILE, --etcd and --kube exclude each other');
  if (kube) return { kind: 'kube', kubeconfigPath: kubeconfig };
  if (kubeconfig !== undefined) throw new UsageError('--kubeconfig goes with --kube');
  if (path !== undefined) {
    if (save !== undefined) throw new UsageError('--save goes with --etcd');
    const address = s3AddressOf(path, values);
    const copied = { spoolDir: values.spool ?? tmpdir(), keyPath: values['encrypt-key-file'] };
    if (address === undefined) return { kind: 'file', path, ...copied };
    return { kind: 's3', address, ...copied };
  }
  if (values['encrypt-key-file'] !== undefined) {
    throw new UsageError('--encrypt-key-file goes with a FILE or s3://');
  }
  if (etcd === undefined && findEtcd === undefined) {
    throw new UsageError('say what to read: a FILE, --etcd or --kube');
  }
  const endpoints = etcd?.map((url) => endpointOf(url)) ?? [(await findEtcd?.(plane)) ?? ''];
  return { kind: 'etcd', address: { endpoints, tls: tlsOf(values) }, savePath: save };
}

function parse(args: readonly string[], hasPlane: boolean) {
  const options = {
    help: { type: 'boolean', short: 'h' },
    ...ETCD_ARGUMENTS,
    ...S3_ARGUMENTS,
    snapshot: { type: 'string' },
    spool: { type: 'string' },
    'encrypt-key-file': { type: 'string' },
    save: { type: 'string' },
    kube: { type: 'boolean' },
    kubeconfig: { type: 'string' },
    against: { type: 'string', multiple: true },
    scratch: { type: 'string' },
    resource: { type: 'string', multiple: true },
    prefix: { type: 'string', multiple: true },
    examples: { type: 'string' },
    json: { type: 'boolean' },
    plane: { type: 'string' },
  } as const;
  const parsed = readArguments(args, options);
  if (parsed.values.plane === undefined || hasPlane) return parsed;
  throw new UsageError('--plane is of npm run audit; name an --etcd');
}

/** `widgets.example.com`, as kubectl writes it; `example.com/widgets` is understood too. */
export function resourceOf(text: string): GroupResource {
  const slashed = /^([a-z0-9.-]*)\/([a-z0-9-]+)$/.exec(text);
  if (slashed !== null) return { group: slashed[1] ?? '', resource: slashed[2] ?? '' };
  const [, resource, group = ''] = /^([a-z0-9-]+)(?:\.([a-z0-9.-]+))?$/.exec(text) ?? [];
  if (resource !== undefined) return { group, resource };
  throw new UsageError(`--resource must be as widgets.example.com or secrets, not ${text}`);
}

function prefixOf(text: string): string {
  try {
    return etcdPrefix(text);
  } catch (cause) {
    throw new UsageError(`--prefix must be as /registry, not ${text}`, { cause });
  }
}

export function examplesOf(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count <= EXAMPLES_MAX) return count;
  throw new UsageError(`--examples wants a whole number from 0 to ${EXAMPLES_MAX}, not ${text}`);
}
