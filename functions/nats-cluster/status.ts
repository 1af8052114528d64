// Computes the status of a cluster from the state and the decision. Pure; equal input gives an
// equal status, so a cluster at rest is not written at all.
import type {
  NatsClusterStatus,
  ServerStatus,
  StreamAtRisk,
} from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import type { ConditionInput, Reason } from '../../shared/kube/conditions.ts';
import {
  condition,
  isYoung,
  noContact,
  NOT_DEGRADED,
  progressing,
} from '../../shared/stateful/conditions.ts';
import { type Contacts, silentSince, withContact } from '../../shared/stateful/contacts.ts';
import { joined } from '../../shared/stateful/decision.ts';
import type { StatusUpdate } from '../../shared/stateful/write-status.ts';
import { isConverged } from './decide.ts';
import type { Decision } from './decision.ts';
import { atRisk, stuckReasons, awayReason } from './safety.ts';
import { isOnWantedConfig } from './reload.ts';
import { selectorText } from '../../shared/kube/label-selector.ts';
import { selectorOf } from './render/labels.ts';
import { isStarting, startingSince } from './starting.ts';
import { rangeOf } from './version.ts';
import { expected, isPodCurrent, isUp, sizeOf, type State, type Records } from './state.ts';

/** `kubectl get` shows it in a table. */
const WAITS_BYTES_MAX = 2_000;
/** Nobody reads more of them, and the size of a status is limited. */
const RISKS_SHOWN_MAX = 32;

export function statusUpdateOf(
  state: State,
  decision: Decision,
  records: Records,
  contacts: Contacts,
): StatusUpdate<NatsClusterStatus> {
  const { cluster, nats } = state;
  const servers = expected(state).map((one) => serverStatus(state, one, contacts));
  const up = servers.filter((one) => one.ready).length;
  const risks = atRisk(state).slice(0, RISKS_SHOWN_MAX);
  const version = rangeOf([...nats.servers.values()].map((one) => one.version));
  const { next, waitsFor } = decision;
  const status = {
    observedGeneration: cluster.generation,
    replicas: sizeOf(state.parts) ?? 0,
    selector: selectorText(selectorOf(cluster)),
    ready: `${up}/${Math.max(servers.length, cluster.spec.replicas)}`,
    ...(version === undefined ? {} : { version }),
    ...(nats.meta === undefined ? {} : { metaLeader: nats.meta.leader }),
    servers,
    ...(risks.length === 0 ? {} : { streamsAtRisk: risks.map(definedFields) }),
    plan: { next, ...(waitsFor === undefined ? {} : { waitsFor: waitsForText(decision) }) },
    ...records,
  };
  return { status, conditions: conditionsOf(state, decision, servers) };
}

/** The reason to wait; when it needs a person, Degraded has the advice. */
function waitsForText({ waitsFor, trouble }: Decision): string {
  const reason = trouble === undefined ? waitsFor : withoutAdvice(trouble);
  return cut(reason?.message ?? '', WAITS_BYTES_MAX);
}

const definedFields = ({ account, stream, consumer, reason }: StreamAtRisk): StreamAtRisk => ({
  account,
  stream,
  ...(consumer === undefined ? {} : { consumer }),
  reason,
});

function serverStatus(state: State, name: string, contacts: Contacts): ServerStatus {
  const before = (state.cluster.status.servers ?? []).find((one) => one.name === name);
  const answered = state.nats.servers.get(name);
  const { meta } = state.nats;
  const since = startingSince(state, name);
  const starting = since === undefined ? {} : { startingSince: since };
  if (answered === undefined) {
    const wasHeard = before?.ready === true || before?.configDigest !== undefined;
    const known = before && { ...before, wasHeard };
    const lastContact = silentSince(known, contacts.get(name), state.nowMs);
    const { version } = before ?? {};
    return {
      name,
      ...(version === undefined ? {} : { version }),
      ready: false,
      ...starting,
      ...(lastContact === undefined ? {} : { lastContact }),
    };
  }
  const now: ServerStatus = {
    name,
    version: answered.version,
    ...(meta === undefined ? {} : { role: meta.leader === name ? 'MetaLeader' : 'Follower' }),
    ready: isUp(state, name),
    configDigest: answered.digest,
    upToDate: isPodCurrent(state, name) && isOnWantedConfig(state, name),
    ...starting,
  };
  return withContact(before, now, state.nowMs);
}

function conditionsOf(
  state: State,
  decision: Decision,
  servers: readonly ServerStatus[],
): readonly ConditionInput[] {
  return [ready(state, decision, servers), progressing(decision), degraded(state, decision)];
}

function ready(state: State, decision: Decision, servers: readonly ServerStatus[]): ConditionInput {
  if (isConverged(state, decision)) {
    const whole =
      'Every server is as the spec says, and every stream is current on all of its own.';
    const { notice } = state.parts;
    const message = notice === undefined ? whole : `${whole} ${notice}`;
    return condition('Ready', 'True', { reason: 'Whole', message });
  }
  const isSilent = state.nats.servers.size === 0;
  const silent = isSilent ? noContact(servers, state.nowMs, 'server') : undefined;
  if (silent !== undefined) return condition('Ready', 'Unknown', silent);
  const { next, waitsFor, trouble } = decision;
  if (trouble !== undefined) return condition('Ready', 'False', withoutAdvice(trouble));
  const reason = waitsFor ?? { reason: 'Changing', message: `It is to be changed: ${next}.` };
  return condition('Ready', 'False', reason);
}

/** Only the finding: Degraded alone says what to do about it. */
const withoutAdvice = ({ reason, message }: Reason): Reason => ({
  reason,
  message: `${/^.*?[^.](?=[;.]\s|\.?$)/.exec(message)?.[0] ?? message}.`,
});

function degraded(state: State, { next, waitsFor, trouble }: Decision): ConditionInput {
  if (trouble !== undefined) return condition('Degraded', 'True', trouble);
  const stuck = stuckReasons(state);
  if (stuck[0] !== undefined) {
    return condition('Degraded', 'True', { reason: stuck[0].reason, message: joined(stuck) });
  }
  if (waitsFor === undefined || isYoung(state.cluster.object, state.nowMs)) return NOT_DEGRADED;
  const missing = missingReasons(state);
  if (missing[0] !== undefined) {
    return condition('Degraded', 'True', { reason: missing[0].reason, message: joined(missing) });
  }
  const isLacking = next === 'Nothing' && waitsFor.reason !== 'Paused';
  return isLacking ? condition('Degraded', 'True', withoutAdvice(waitsFor)) : NOT_DEGRADED;
}

/** Servers that no record takes away and that are not starting: they hold up the next step too. */
function missingReasons(state: State): readonly Reason[] {
  const { restarting, leaving, replacing } = state.cluster.status;
  if ([restarting, leaving, replacing].some((one) => one !== undefined)) return [];
  const missing = expected(state).filter((one) => awayReason(state, one) !== undefined);
  if (missing.every((one) => isStarting(state, one))) return [];
  return missing.flatMap((one) => awayReason(state, one) ?? []);
}
