// One side of P11, as a child process: holds fifty ConfigMaps by the narrow cache, or everything by
// client-node's informers on both kinds, and says when it has seen what the bench wrote.
import { openKube } from '../../../shared/kube/client.ts';
import { narrowCache } from '../../../shared/kube/narrow-cache/narrow-cache.ts';
import { answerWith } from '../feed/child.ts';

export type HolderQuestion =
  | { readonly open: readonly string[] }
  /** Answers when the object of this name has this value, and `objects` or more are held. */
  | { readonly until: { readonly name: string; readonly turn: string; readonly objects: number } };

export interface Opened {
  /** Requests for each object, for the first get and a thousand more. */
  readonly callsPerObject: number;
  readonly cachedGetUs: number;
  readonly liveGetUs: number;
}

interface Holder {
  open(names: readonly string[]): Promise<Opened>;
  turnOf(name: string): Promise<string | undefined>;
  count(): number;
}

const [side = '', kubeconfigPath = ''] = process.argv.slice(2);
const namespace = 'default';
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const GETS = 1_000;
const LIVE_GETS = 300;
const POLL_MS = 20;

function narrowHolder(): Holder {
  const kube = openKube({ userAgent: 'p11', fieldManager: 'p11', kubeconfigPath });
  const cache = narrowCache(kube);
  const turnOf = async (name: string): Promise<string | undefined> => {
    const object = await cache.get(configMaps, { namespace, name });
    return (object?.['data'] as { turn?: string } | undefined)?.turn;
  };
  let held: readonly string[] = [];
  return {
    open: async (names) => {
      held = names;
      await Promise.all(names.map(turnOf));
      const cachedGetUs = await timed(GETS * names.length, (turn) =>
        cache.get(configMaps, { namespace, name: names[turn % names.length] ?? '' }),
      );
      const calls = [...kube.counts().values()].reduce((sum, count) => sum + count, 0);
      const liveGetUs = await timed(LIVE_GETS, (turn) =>
        kube.get(configMaps, { namespace, name: names[turn % names.length] ?? '' }),
      );
      return { callsPerObject: calls / names.length, cachedGetUs, liveGetUs };
    },
    turnOf,
    count: () => held.length,
  };
}

async function informerHolder(): Promise<Holder> {
  const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath);
  const core = config.makeApiClient(CoreV1Api);
  const maps = makeInformer(config, '/api/v1/configmaps', () =>
    core.listConfigMapForAllNamespaces(),
  );
  const secrets = makeInformer(config, '/api/v1/secrets', () => core.listSecretForAllNamespaces());
  return {
    open: async () => {
      await Promise.all([maps.start(), secrets.start()]);
      return { callsPerObject: 0, cachedGetUs: 0, liveGetUs: 0 };
    },
    turnOf: async (name) => maps.get(name, namespace)?.data?.['turn'],
    count: () => maps.list().length + secrets.list().length,
  };
}

async function timed(count: number, get: (turn: number) => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  for (let turn = 0; turn < count; turn += 1) await get(turn);
  return ((performance.now() - startedMs) * 1_000) / count;
}

const holder = side === 'narrow' ? narrowHolder() : await informerHolder();

answerWith(async (question: HolderQuestion) => {
  if ('open' in question) return holder.open(question.open);
  const { name, turn, objects } = question.until;
  while ((await holder.turnOf(name)) !== turn || holder.count() < objects) {
    const pause = Promise.withResolvers<void>();
    setTimeout(pause.resolve, POLL_MS);
    await pause.promise;
  }
  return undefined;
});
