// `npm run cluster`: holds a cluster up until somebody ends it, and says what becomes of it.
import type { InsideMessage } from './inside/config.ts';
import { runStages } from './stages.ts';
import type { Stage } from './stage.ts';
import { type Cluster, type ClusterOptions, startCluster } from './start-cluster.ts';

export interface UpOptions {
  readonly nodes: number;
  readonly subnet: string;
  readonly stages: readonly Stage[];
  readonly print: (text: string) => void;
}

/** Resolves with the exit code; `end` aborts when somebody wants that. */
export async function holdUp(
  options: UpOptions,
  start: (options: ClusterOptions) => Promise<Cluster> = startCluster,
  end: AbortSignal = endOnSignal(options.print),
): Promise<number> {
  const { nodes, subnet, print } = options;
  const startedMs = Date.now();
  const since = (): string => `${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
  const started = new Set<string>();
  const onMessage = (message: InsideMessage): void => {
    const text = textOf(message, started);
    if (text !== undefined) print(`${since().padStart(7)}  ${text}`);
  };
  let cluster: Cluster;
  try {
    cluster = await start({ nodes, subnet, onMessage, onNote: print, signal: end });
  } catch (error) {
    if (end.aborted) return left(print);
    throw error;
  }
  if (options.stages.length > 0) print(upSoFar(cluster, since()));
  const over = new AbortController();
  const onReady = (readyName: string): void => onMessage({ kind: 'ready', readyName });
  const signal = AbortSignal.any([end, over.signal]);
  const staged = runStages(options.stages, cluster, { onReady, signal });
  const held = staged.then(() => {
    const more = options.stages.length > 0 ? [TO_TRY] : [];
    print(
      `\nEverything is ready after ${since()}.\n\n${[...advice(cluster), ...more].join('\n')}\n`,
    );
    return new Promise<never>(() => undefined);
  });
  try {
    const lastWords = await Promise.race([aborted(end), cluster.ended, held]);
    if (lastWords === undefined) return 0;
    throw new Error(`The cluster ended by itself. ${lastWords}`);
  } catch (error) {
    if (end.aborted) return 0;
    throw error;
  } finally {
    over.abort();
    await cluster.stop();
    // The stages have files of their own on this machine.
    await staged.catch(() => undefined);
    left(print);
  }
}

/** Said before anything is built: who waits for that can work with the API server. */
function upSoFar({ kubeconfigPath }: Cluster, took: string): string {
  const rest = 'Knative and our functions follow; what they need and is not there is built now.';
  return `\nThe API server is up after ${took}. ${rest}\nexport KUBECONFIG=${kubeconfigPath}\n`;
}

function left(print: (text: string) => void): number {
  print('Nothing is left of it.');
  return 0;
}

/**
 * Text for people; undefined for messages that interest nobody, such as that a part is about to
 * start.
 */
function textOf(message: InsideMessage, started: Set<string>): string | undefined {
  if (message.kind === 'ready') return `${message.readyName} is ready`;
  if (message.kind === 'trouble') return message.text;
  if (message.kind === 'up') return undefined;
  const { name, state, note } = message;
  if (state === 'dead') return `${name} died, and is started again: ${note ?? ''}`;
  if (state === 'starting' && note !== undefined) return `${name} is not ready yet: ${note}`;
  if (state !== 'ready') return undefined;
  const again = started.has(name) ? ' again' : '';
  started.add(name);
  return `${name} runs${again}`;
}

const TO_TRY =
  'The feed is at work; three lines make a NATS (docs/nats.md), and three an etcd (docs/etcd.md).';

const advice = ({ kubeconfigPath, addresses }: Cluster): readonly string[] => [
  `export KUBECONFIG=${kubeconfigPath}`,
  'kubectl get pods --all-namespaces        (npm run parts -- kubectl says where one is)',
  `Nodes, pods and Services are reached from this machine, at ${addresses.subnet}.`,
  'Ctrl-C ends it, and so does `npm run cluster -- down`.',
];

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** Aborts when somebody wants the end: Ctrl-C, a polite kill, a closed terminal. */
function endOnSignal(print: (text: string) => void): AbortSignal {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!abort.signal.aborted) print('Ending.');
      abort.abort();
    });
  }
  process.stdout.on('error', () => abort.abort());
  return abort.signal;
}
