// Reads the state of a cluster: pods and the answers of servers every time; its parts only after a
// change or a while, since a cluster at rest should cost next to nothing.
import { Failure } from '../../shared/errors.ts';
import { selectorText } from '../../shared/kube/label-selector.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import { rememberedParts } from '../../shared/stateful/memory.ts';
import { freshRefusal } from '../../shared/stateful/missing-rights.ts';
import { type Pod, readPods } from '../../shared/stateful/pods.ts';
import type { Cluster } from './cluster.ts';
import { withSystem } from './connect.ts';
import type { Deps, Memory } from './deps.ts';
import { areAsRead, readParts } from './parts.ts';
import { configDigest } from './render/config.ts';
import { selectorOf } from './render/labels.ts';
import type { Rendered } from './render/manifests.ts';
import { NO_ANSWERS, type NatsState, natsStateOf } from './nats-state.ts';
import { expected, type State } from './state.ts';

export async function observe(
  deps: Deps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Observation<State>> {
  const { kube, clock } = deps;
  const memory = deps.memoryOf(cluster.uid);
  const labelSelector = selectorText(selectorOf(cluster));
  const pods = await readPods(deps, { ...cluster, labelSelector }, signal);
  const remembered = rememberedParts(memory, cluster, clock.nowMs());
  const { known, kept, hasSeenTls, namesRefusedAtMs } = memory;
  const nowReadMs = clock.nowMs();
  const policyRefusal = freshRefusal(memory.policyRefusal, nowReadMs);
  const reading = { kube, nowMs: nowReadMs, signal, memory };
  const partsDeps = { ...reading, known, kept, policyRefusal, hasSeenTls, namesRefusedAtMs };
  const isGood = remembered !== undefined && (await areAsRead(partsDeps, cluster, remembered));
  const parts = isGood ? remembered : await readParts(partsDeps, cluster, pods);
  if (!isGood) {
    deps.remember(cluster, parts);
    if (parts.saysTls === false) memory.hasSeenTls = false;
  }
  const nats = await readNats(deps, cluster, { parts, pods }, signal);
  // The Secret has to say that servers speak TLS before another instance takes over, so the parts
  // are read again and that is written next.
  if (memory.hasSeenTls === true && parts.beforeTls.length > 0) delete memory.parts;
  const nowMs = clock.nowMs();
  const refusals = refusalsOf(memory, parts.rendered);
  const state = { cluster, nowMs, parts, pods, nats, refusals };
  // A foreign server may answer under any name, and under a new one each time: only expected names
  // are kept, or memory would grow without end.
  const answered = expected(state).filter((server) => nats.servers.has(server));
  for (const server of answered) memory.contactMs.set(server, nowMs);
  return { state, isRemembered: isGood };
}

/** A refusal counts only for the configuration that was refused. */
function refusalsOf({ refusals }: Memory, rendered: Rendered | undefined) {
  const held = [...refusals].filter(
    ([server, { digest }]) =>
      rendered !== undefined && digest === configDigest(rendered.config, server),
  );
  return new Map(held.map(([server, { why }]) => [server, why]));
}

/** Asks all servers that can be reached. That none can be is an answer too. */
async function readNats(
  deps: Deps,
  cluster: Cluster,
  { parts, pods }: Pick<State, 'parts' | 'pods'>,
  signal: AbortSignal,
): Promise<NatsState> {
  const reachable = pods.filter(({ ip, isEnding }) => ip !== undefined && !isEnding);
  if (reachable.length === 0 || parts.systemPassword === undefined) return NO_ANSWERS;
  const names = reachable.map(({ name }) => name);
  const target = { cluster, parts, pods };
  try {
    const nats = await withSystem(deps, target, signal, async (system) => {
      const answers = [
        system.servers(names),
        system.jetStream(names),
        system.health(names),
      ] as const;
      return { ...natsStateOf(...(await Promise.all(answers))), rejectedAnswers: system.unread };
    });
    const silent = reachable.filter(({ name, isReady }) => isReady && !nats.servers.has(name));
    return { ...nats, refusingPassword: await refusingAmong(deps, target, silent, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    const refusingPassword = error.code === 'NATS_REFUSED' ? names : [];
    return { ...NO_ANSWERS, refusingPassword, rejectedAnswers: [error.message] };
  }
}

/** Other servers answer: these are tried at their own address, to learn why they do not. */
async function refusingAmong(
  deps: Deps,
  target: Pick<State, 'cluster' | 'parts' | 'pods'>,
  silent: readonly Pod[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const refusals = silent.map(async (pod) => {
    try {
      await withSystem(deps, { ...target, pods: [pod] }, signal, async () => undefined);
      return [];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure)) throw error;
      return error.code === 'NATS_REFUSED' ? [pod.name] : [];
    }
  });
  return (await Promise.all(refusals)).flat();
}
