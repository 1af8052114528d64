// `locate` as it ships, beside the readers: after each seed its answers about every pod that there
// may be are compared with the API server.
import { locate } from '../../functions/locate/index.ts';
import { type RunningFunction, startFunction } from '../../shared/function/start.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { NAMESPACE, POD_NAMES, PODS } from './shapes.ts';

const ASK_TIMEOUT_MS = 5_000;

export class Located {
  readonly #running: RunningFunction;

  private constructor(running: RunningFunction) {
    this.#running = running;
  }

  /** As the user of NATS that is made for it. */
  static async start(natsUrl: string): Promise<Located> {
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      NATS_URL: natsUrl,
    };
    const build = { version: '0.0.0', commit: '' };
    return new Located(await startFunction(locate, { environment, build }));
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }

  async differences(kube: KubeClient): Promise<readonly string[]> {
    const { items } = await kube.list(PODS, { namespace: NAMESPACE });
    const expected = new Map(items.map((pod) => [pod.metadata.name, shownOf(pod)]));
    const body = JSON.stringify({ names: POD_NAMES.map((name) => `${NAMESPACE}/${name}`) });
    const reply = await fetch(`http://127.0.0.1:${this.#running.port}/hydrate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    });
    const answer: unknown = await reply.json();
    if (reply.status !== 200) return [`locate answers ${reply.status}`];
    const told = foundIn(answer);
    return POD_NAMES.flatMap((name) => {
      const [should, does] = [expected.get(name), told.get(name)];
      return should === does
        ? []
        : [`locate says ${does ?? 'nothing'} of ${name}, which is ${should ?? 'not there'}`];
    });
  }
}

/** Which pod it is, and where. */
function shownOf({ metadata: { uid }, ...pod }: KubeObject): string {
  const spec = isRecord(pod['spec']) ? pod['spec'] : {};
  const node = textOf(spec['nodeName']);
  return `${uid} on ${node === '' ? 'no node' : node}`;
}

function foundIn(answer: unknown): ReadonlyMap<string, string> {
  const found = isRecord(answer) && Array.isArray(answer['found']) ? answer['found'] : [];
  const told = found.flatMap((one: unknown) => {
    const object = isRecord(one) ? one['object'] : undefined;
    if (!isRecord(object)) return [];
    const node = isRecord(object['node']) ? textOf(object['node']['name']) : 'no node';
    return [[textOf(object['name']), `${textOf(object['uid'])} on ${node}`] as const];
  });
  return new Map(told);
}
