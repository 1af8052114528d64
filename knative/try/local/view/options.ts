// Command-line options of a session; every wrong one is named.
import { join } from 'node:path';
import { readArguments, UsageError, wholeNumber } from '../../../../shared/arguments.ts';
import { LAST_NUMBER, type Step, STEPS } from '../timeline/step-names.ts';

export interface SessionOptions {
  readonly nodes: number;
  readonly pods: number;
  readonly churnPerSecond: number;
  /** Where etcd and NATS keep their data beyond this run; undefined when they shall not. */
  readonly dataDir: string | undefined;
  readonly isPlain: boolean;
  readonly apiPort: number | undefined;
  readonly natsPort: number | undefined;
  /** The step of our own kinds, with their conversion; undefined without it. */
  readonly step: Step | undefined;
  /** It runs from its sources and restarts when they change; the others run from their bundles. */
  readonly devFunction: string | undefined;
}

/** Enough to look like a cluster, and no more than a laptop carries along idly. */
const DEFAULTS = { nodes: 20, pods: 300, churn: 2 };
/** The most that one API server and one etcd take on one machine. */
const MOST = { nodes: 5_000, pods: 50_000, churn: 500 };
const PORT_MAX = 65_535;

const OPTIONS = {
  nodes: { type: 'string' },
  pods: { type: 'string' },
  churn: { type: 'string' },
  keep: { type: 'boolean' },
  plain: { type: 'boolean' },
  'api-port': { type: 'string' },
  'nats-port': { type: 'string' },
  step: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const OPTIONS_HELP = `
  --nodes N        nodes in the cluster (${DEFAULTS.nodes})
  --pods N         pods on them (${DEFAULTS.pods})
  --churn N        pods replaced per second, 0 for none (${DEFAULTS.churn})
  --keep           keep the data in .ballast/data, and go on from what is there
  --api-port N     the API server's port (any free one)
  --nats-port N    the NATS server's port (any free one)
  --step N         our own kinds at step N of docs/upgrading.md, with conversion (0, without it)
  --plain          lines instead of the live view, as when the output is no terminal
  -h, --help       this text

npm run step -- N takes what runs with --step to another step.
npm run part lists the parts of a running plane, and kills, pauses and resumes them by name.
npm run parts -- --help says where the binaries come from.
`;

/**
 * Undefined when help was asked for. `functions` are those of which one has to be named; undefined
 * when none is to be.
 */
export function sessionOptions(
  args: readonly string[],
  functions: readonly string[] | undefined,
): SessionOptions | undefined {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  const { nodes, pods, churn } = values;
  return {
    // Pods need somewhere to be.
    nodes: wholeNumber('--nodes', nodes, 1, MOST.nodes) ?? DEFAULTS.nodes,
    pods: wholeNumber('--pods', pods, 0, MOST.pods) ?? DEFAULTS.pods,
    churnPerSecond: wholeNumber('--churn', churn, 0, MOST.churn) ?? DEFAULTS.churn,
    dataDir: values.keep === true ? join(process.cwd(), '.ballast', 'data') : undefined,
    isPlain: values.plain ?? false,
    apiPort: wholeNumber('--api-port', values['api-port'], 1, PORT_MAX),
    natsPort: wholeNumber('--nats-port', values['nats-port'], 1, PORT_MAX),
    step: STEPS[wholeNumber('--step', values.step, 0, LAST_NUMBER) ?? -1],
    devFunction: functionIn(positionals, functions),
  };
}

function functionIn(
  words: readonly string[],
  functions: readonly string[] | undefined,
): string | undefined {
  const [name, ...more] = words;
  const tooMany = functions === undefined ? name : more[0];
  if (tooMany !== undefined) throw new UsageError(`nothing is known of "${tooMany}"`);
  if (functions === undefined) return undefined;
  const there = `there are: ${functions.join(', ')}`;
  if (name === undefined) throw new UsageError(`say which function; ${there}`);
  if (!functions.includes(name)) throw new UsageError(`there is no function "${name}"; ${there}`);
  return name;
}
