// The answer of `npm run takeover` to its arguments: a page or manifests, and whether something
// speaks against a plan (1) or nothing could be told (2) as its exit code. It changes nothing.
import { readArguments, refuseWords, UsageError } from '../../../shared/arguments.ts';
import { Failure } from '../../../shared/errors.ts';
import { printable } from '../../../shared/function/printable.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import type { FoundLegacy } from './find.ts';

export const usageOf = (calledAs: string): string => `\
usage: ${calledAs} [options]

Looks for clusters whose operator is gone, EtcdClusters of etcd.database.coreos.com, of
etcd.aenix.io and of etcd.improbable.io, and NatsClusters of nats.io, and for a NATS of Helm's chart
(a StatefulSet), and prints for each how it would be taken over: every object that would be made,
adopted, changed, deleted or kept, the steps, and what speaks against it. Nothing is changed, and
nothing is carried out from here. A plan with an id is the word of the function, of a Takeover that
is there. Last it says which definitions of these operators can go, since nobody has objects of
them.

  -n, --namespace NAME  in this namespace alone
  --manifests           prints a Takeover for each that has none, to be applied
  --nats-clusters       prints the NatsCluster that each NATS would become, to be applied
  --help                this

It reads with the rights of $KUBECONFIG. It ends with 0; with 1 when something speaks against a
plan; and with 2 when nothing could be told.
`;

export const USAGE = usageOf('npm run -s takeover --');

interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const OPTIONS = {
  namespace: { type: 'string', short: 'n' },
  manifests: { type: 'boolean' },
  'nats-clusters': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const NOTHING =
  'Nothing of an operator that is gone is here: no EtcdCluster of etcd.database.coreos.com, of ' +
  'etcd.aenix.io or of etcd.improbable.io, no NatsCluster of nats.io, and no NATS of the chart.\n';
const ALL_TAKEN = 'Each has its Takeover already.\n';
const REFUSED = 1;
const CANNOT_TELL = 2;

export async function runTakeover(
  args: readonly string[],
  { out, err }: Terminal,
  open: () => Promise<KubeClient>,
  usage = USAGE,
): Promise<number> {
  try {
    const { values, positionals } = readArguments(args, OPTIONS);
    refuseWords(positionals);
    if (values.help === true) {
      out(usage);
      return 0;
    }
    const isPage = values.manifests !== true && values['nats-clusters'] !== true;
    const { found, definitions } = await find(open, values.namespace, isPage);
    if (found.length === 0) out(NOTHING);
    else if (values.manifests === true) out(await takeoversOf(found, err));
    else if (values['nats-clusters'] === true) out(await yamlOf(natsClustersIn(found)));
    else out(await pagesOf(found));
    out(definitions);
    return found.some(({ plan }) => plan.refusals.length > 0) ? REFUSED : 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    if (!isUsage && !(error instanceof Failure)) throw error;
    err(`${printable(error.message)}\n${isUsage ? `\n${usage}` : ''}`);
    return CANNOT_TELL;
  }
}

interface Found {
  readonly found: readonly FoundLegacy[];
  /** Lines about them, for who looks at the whole cluster. */
  readonly definitions: string;
}

async function find(
  open: () => Promise<KubeClient>,
  namespace: string | undefined,
  isPage: boolean,
): Promise<Found> {
  const { findLegacy, LEGACY_GROUPS } = await import('./find.ts');
  const { definitionsPage, findDefinitions } = await import('./definitions.ts');
  const kube = await open();
  try {
    const found = await findLegacy(kube, namespace);
    const isOfAll = isPage && namespace === undefined;
    // Plans tell of what is left of others.
    const groups = LEGACY_GROUPS.filter((group) => !found.some((one) => one.group === group));
    const left = isOfAll ? await findDefinitions(kube, groups) : [];
    return { found, definitions: left.map(definitionsPage).join('') };
  } finally {
    await kube.close();
  }
}

async function pagesOf(found: readonly FoundLegacy[]): Promise<string> {
  const { pageOf } = await import('./page.ts');
  return found.map(pageOf).join('\n');
}

async function takeoversOf(found: readonly FoundLegacy[], err: Terminal['err']): Promise<string> {
  const proposed = found.flatMap(({ proposal }) => proposal ?? []);
  if (proposed.length === 0) err(ALL_TAKEN);
  return yamlOf(proposed);
}

const natsClustersIn = (found: readonly FoundLegacy[]): readonly Manifest[] =>
  found.flatMap(({ natsCluster }) => natsCluster ?? []);

async function yamlOf(manifests: readonly Manifest[]): Promise<string> {
  const { stringify } = await import('yaml');
  return manifests.map((manifest) => stringify(manifest)).join('---\n');
}
