// Command-line options of `npm run cluster`; every wrong one is named.
import { readArguments, UsageError, wholeNumber } from '../../../shared/arguments.ts';
import { addressesIn, DEFAULT_SUBNET, NODES_MAX } from './addresses.ts';

export type Request =
  | { readonly do: 'help' }
  | {
      readonly do: 'up';
      readonly nodes: number;
      readonly subnet: string;
      readonly withKnative: boolean;
      readonly withS3: boolean;
      readonly withPrometheus: boolean;
    }
  | { readonly do: 'status' | 'down'; readonly subnet: string | undefined }
  | { readonly do: 'logs'; readonly of: string; readonly subnet: string | undefined };

export const USAGE = 'usage: npm run cluster -- [up | status | logs PART|POD | down] [OPTION...]';

export const HELP = `${USAGE}

Runs a real Kubernetes cluster on this machine, as root, until Ctrl-C: nodes with containerd and
kubelet, Services, names and volumes, and on them Knative and our functions. Everything is in
namespaces of its own; nothing of it is left when it ends.

  up               the cluster, with a line for whatever becomes ready (the default)
  status           the parts of a running cluster, their state and memory
  logs PART|POD    the last lines of a part of the list, or the log of a pod: NAME or NAMESPACE/NAME
  down             ends it, and cleans up after one that was killed

  --nodes N              1 to ${NODES_MAX} (1)
  --subnet A.B.0.0/16    the addresses of nodes, pods and Services (${DEFAULT_SUBNET});
                         tells clusters apart when several run
  --without-knative      a bare cluster, without our functions too
  --with-s3              an object storage as well, for backups (docs/cluster.md)
  --with-prometheus      a Prometheus as well, with our alerts (docs/metrics.md)
  -h, --help             this text
`;

const OPTIONS = {
  nodes: { type: 'string' },
  subnet: { type: 'string' },
  'without-knative': { type: 'boolean' },
  'with-s3': { type: 'boolean' },
  'with-prometheus': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Servers beside Knative and our functions. */
const EXTRAS = ['with-s3', 'with-prometheus'] as const;

const VERBS = ['up', 'status', 'logs', 'down'] as const;

export function readRequest(args: readonly string[]): Request {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return { do: 'help' };
  const [word = 'up', ...names] = positionals;
  const verb = VERBS.find((one) => one === word);
  if (verb === undefined) throw new UsageError(`there is no command "${word}"`);
  if (verb !== 'up') refuse(verb, values, ['nodes', 'without-knative', ...EXTRAS]);
  const [of, ...more] = names;
  const extra = verb === 'logs' ? more[0] : of;
  if (extra !== undefined) throw new UsageError(`nothing is known of "${extra}"`);
  const subnet = subnetOf(values.subnet);
  if (verb === 'logs') {
    if (of === undefined) throw new UsageError('logs needs the name of a part or a pod');
    return { do: verb, of, subnet };
  }
  if (verb !== 'up') return { do: verb, subnet };
  const withKnative = values['without-knative'] !== true;
  const beside = EXTRAS.find((option) => values[option] === true);
  if (beside !== undefined && !withKnative) {
    throw new UsageError(`--${beside} means nothing without Knative`);
  }
  return {
    do: verb,
    nodes: wholeNumber('--nodes', values.nodes, 1, NODES_MAX) ?? 1,
    subnet: subnet ?? DEFAULT_SUBNET,
    withKnative,
    withS3: values['with-s3'] === true,
    withPrometheus: values['with-prometheus'] === true,
  };
}

function refuse(verb: string, values: object, options: readonly string[]): void {
  const given = options.find((option) => option in values);
  if (given !== undefined) throw new UsageError(`--${given} means nothing to ${verb}`);
}

function subnetOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const addresses = addressesIn(text);
  if (addresses !== undefined) return addresses.subnet;
  throw new UsageError(
    `--subnet wants a private network of the form A.B.0.0/16, such as ${DEFAULT_SUBNET}, ` +
      `not "${text}"`,
  );
}
