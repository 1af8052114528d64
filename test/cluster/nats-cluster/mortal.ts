// The function as if its process were killed again and again, at one write after the other: of the
// API server, and of the servers of NATS. Whatever it knew is gone each time.
import { Deps } from '../../../functions/nats-cluster/deps.ts';
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { defineFunction } from '../../../shared/function/define.ts';
import { Killed, kubeWriting, lifeUntil, type Writing } from '../../builders/mortal.ts';

/** Late enough that a life gets somewhere, and early enough that most end. */
const WRITES_MAX = 4;
const NATS_WRITES: readonly string[] = ['reload', 'stepDownMeta', 'moveStream', 'removePeer'];

const natsWriting: Writing = (method) => (NATS_WRITES.includes(method) ? method : undefined);

/** With what its lives did last, one after the other: `before delete pods`. */
export function mortalNatsCluster() {
  const lastWords: string[] = [];
  const definition = defineFunction({
    ...natsCluster,
    handle: async (event, context) => {
      const deaths = lastWords.length;
      const moment = deaths % 2 === 0 ? 'after' : 'before';
      const { proxy, lastWord } = lifeUntil({ write: 1 + (deaths % WRITES_MAX), moment });
      const { clock, metrics, log, signal, traceparent } = context;
      const { kube, openSystem, workMs, lease } = context.deps;
      const deps = new Deps({
        kube: proxy(kube, kubeWriting),
        openSystem: async (...way) => proxy(await openSystem(...way), natsWriting),
        clock,
        workMs,
        lease,
      });
      try {
        const request = { deps, clock, metrics, log, signal, traceparent };
        return await natsCluster.handle?.(event, request);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        lastWords.push(`${moment} ${lastWord()}`);
        return undefined;
      }
    },
  });
  return { definition, lastWords };
}
