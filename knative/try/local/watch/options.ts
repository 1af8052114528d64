// Command-line options of `npm run watch`; every wrong one is named.
import { readFileSync } from 'node:fs';
import { readArguments, refuseWords, UsageError } from '../../../../shared/arguments.ts';
import { accessIn, type AccessSource, type NatsAccess } from '../../../../shared/nats/access.ts';
import type { Scope } from '../../../../shared/nats/replica/scope.ts';

export interface WatchOptions {
  readonly scope: Scope;
  /** Undefined for the NATS of the control plane that runs here. */
  readonly natsUrl: string | undefined;
  /** Undefined when the url is all that is needed. */
  readonly access: AccessSource | undefined;
  /** The prefix of JetStream's API there; undefined for the prefix of readers' accounts. */
  readonly apiPrefix: string | undefined;
  readonly planeDir: string | undefined;
  readonly feed: string;
  readonly isJson: boolean;
  readonly isOnce: boolean;
  /** Undefined when nothing is to be compared. */
  readonly verifyWithinMs: number | undefined;
  /** Undefined for the API server of the control plane that runs here. */
  readonly kubeconfigPath: string | undefined;
}

/** The MetadataFeed in knative/feeds. */
const FEED = 'cluster';

/** A lost event is made good by the sweep, which comes each minute and takes some seconds. */
const WITHIN_SECONDS = 75;

export const usageOf = (calledAs: string): string => `\
usage: ${calledAs} SCOPE [OPTION...]

Shows what a reader of the metadata feed holds, and every change as it comes.

SCOPE is one of
  --node NAME        what the agent of this node sees
  --cluster          everything
  --namespace NAME   what is in this namespace, and what belongs to none; may be repeated

and then
  --once             show what is held as soon as it is current, and end
  --verify           compare with the API server, and end: 0 when they agree, 1 when not
  --within SECONDS   how long a difference may last (${WITHIN_SECONDS}: a sweep and a little)
  --kubeconfig FILE  which API server (that of npm start or npm run cluster)
  --json             one JSON object per line
  --feed NAME        which feed (${FEED})
  --nats URL         which NATS: nats://[user:password@]host:port, or tls://... (likewise)
  --tlsca FILE       the authority that signed its certificate, where that is not a public one
  --tlscert FILE     our own certificate, and with --tlskey FILE its key
  --creds FILE       a user's JWT and seed, in place of a login in the url; or --nkey FILE, a seed
  --api-prefix TEXT  what JetStream's API is called there: $JS.API in the account of the streams
  --plane DIR        which control plane, when several run: the directory of its kubeconfig
  -h, --help         this text
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  node: { type: 'string' },
  cluster: { type: 'boolean' },
  namespace: { type: 'string', multiple: true },
  once: { type: 'boolean' },
  verify: { type: 'boolean' },
  within: { type: 'string' },
  kubeconfig: { type: 'string' },
  json: { type: 'boolean' },
  feed: { type: 'string' },
  nats: { type: 'string' },
  tlsca: { type: 'string' },
  tlscert: { type: 'string' },
  tlskey: { type: 'string' },
  creds: { type: 'string' },
  nkey: { type: 'string' },
  'api-prefix': { type: 'string' },
  plane: { type: 'string' },
} as const;

/** Undefined when help was asked for. */
export function watchOptions(args: readonly string[]): WatchOptions | undefined {
  const parsed = readArguments(args, OPTIONS);
  const { help, node, cluster, namespace = [], ...values } = parsed.values;
  if (help === true) return undefined;
  refuseWords(parsed.positionals);
  const { nats, plane, feed = FEED, json = false, once = false, verify = false } = values;
  const chosen = [node, cluster, namespace[0]].filter((each) => each !== undefined).length;
  if (chosen === 0) throw new UsageError('say what to watch: --node, --cluster or --namespace');
  if (chosen > 1) throw new UsageError('--node, --cluster and --namespace exclude each other');
  if (node === '' || namespace.includes('') || feed === '') {
    throw new UsageError('a name must not be empty');
  }
  if (nats !== undefined && !isNatsUrl(nats)) {
    throw new UsageError('--nats must be an address such as nats://127.0.0.1:4222');
  }
  const scope = node === undefined ? (cluster ? 'cluster' : { namespaces: namespace }) : { node };
  if (once && verify) throw new UsageError('--once and --verify exclude each other');
  return {
    scope,
    natsUrl: nats,
    access: accessOf(values),
    apiPrefix: values['api-prefix'],
    planeDir: plane,
    feed,
    isJson: json,
    isOnce: once,
    verifyWithinMs: verify ? withinMs(values.within) : undefined,
    kubeconfigPath: values.kubeconfig,
  };
}

type Files = Partial<Record<'tlsca' | 'tlscert' | 'tlskey' | 'creds' | 'nkey', string>>;

function accessOf({ tlsca, tlscert, tlskey, creds, nkey }: Files): AccessSource | undefined {
  const paths = {
    'ca.crt': tlsca,
    'tls.crt': tlscert,
    'tls.key': tlskey,
    'nats.creds': creds,
    nkey,
  };
  const given = Object.entries(paths).flatMap(([key, path]) =>
    path === undefined ? [] : [[key, path] as const],
  );
  if (given.length === 0) return undefined;
  const read = (): NatsAccess =>
    accessIn(Object.fromEntries(given.map(([key, path]) => [key, readFileSync(path, 'utf8')])));
  return { from: given.map(([key, path]) => `${path} (${key})`).join(', '), read };
}

function withinMs(given: string | undefined): number {
  const seconds = Number(given ?? WITHIN_SECONDS);
  if (Number.isInteger(seconds) && seconds > 0) return seconds * 1_000;
  throw new UsageError(`--within wants a whole number of seconds, not ${given}`);
}

const isNatsUrl = (text: string): boolean =>
  URL.canParse(text) && ['nats:', 'tls:'].includes(new URL(text).protocol);
