// Computes the status of a cluster from the state and the decision. Pure; equal input gives an
// equal status, so a cluster at rest is not written at all.
import type {
  NatsClusterStatus,
  ServerStatus,
  StreamAtRisk,
} from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import type { ConditionInput } from '../../shared/kube/conditions.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { joined } from '../../shared/stateful/decision.ts';
import { isConverged } from './decide.ts';
import type { Decision } from './decision.ts';
import { atRisk, stuckReasons, awayReason } from './safety.ts';
import { isOnWantedConfig } from './reload.ts';
import { selectorText } from '../../shared/kube/label-selector.ts';
import { selectorOf } from './render/labels.ts';
import { isStarting, startingSince } from './starting.ts';
import { rangeOf } from './version.ts';
import { expected, isPodCurrent, isUp, sizeOf, type State, type Records } from './state.ts';

export interface StatusUpdate {
  readonly status: Omit<NatsClusterStatus, 'conditions'>;
  readonly conditions: readonly ConditionInput[];
}

/** When a server answered last, as far as this instance knows. */
export type Contacts = ReadonlyMap<string, number>;

/** After so long without any answer, the last known state is no longer reported as true. */
const CONTACT_MAX_MS = 60_000;
/**
 * A cluster this young is still being made: missing parts are on their way, and nothing is
 * degraded.
 */
const YOUNG_MS = 600_000;
/** `kubectl get` shows it in a table. */
const WAITS_BYTES_MAX = 2_000;
/** Nobody reads more of them, and the size of a status is limited. */
const RISKS_SHOWN_MAX = 32;

export function statusUpdateOf(
  state: State,
  decision: Decision,
  records: Records,
  contacts: Contacts,
): StatusUpdate {
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
    const lastContact = silentSince(state, before, contacts.get(name));
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
  const { lastContact = timestamp(state.nowMs), ...rest } = before ?? {};
  const isSame = JSON.stringify(sortedFields(rest)) === JSON.stringify(sortedFields(now));
  return { ...now, lastContact: isSame ? lastContact : timestamp(state.nowMs) };
}

const sortedFields = (fields: object): readonly (readonly [string, unknown])[] =>
  Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Unchanged while the server stays silent; when it has just fallen silent, its last contact. */
function silentSince(
  state: State,
  before: ServerStatus | undefined,
  contactMs: number | undefined,
): string | undefined {
  if (before === undefined) return undefined;
  if (before.ready !== true && before.configDigest === undefined) return before.lastContact;
  return timestamp(contactMs ?? state.nowMs);
}

function conditionsOf(
  state: State,
  decision: Decision,
  servers: readonly ServerStatus[],
): readonly ConditionInput[] {
  return [ready(state, decision, servers), progressing(decision), degraded(state, decision)];
}

const condition = (
  type: string,
  status: ConditionInput['status'],
  reason: Reason,
): ConditionInput => ({
  type,
  status,
  ...reason,
});

function ready(state: State, decision: Decision, servers: readonly ServerStatus[]): ConditionInput {
  if (isConverged(state, decision)) {
    const whole =
      'Every server is as the spec says, and every stream is current on all of its own.';
    const { notice } = state.parts;
    const message = notice === undefined ? whole : `${whole} ${notice}`;
    return condition('Ready', 'True', { reason: 'Whole', message });
  }
  const contactTimes = servers.flatMap(({ lastContact }) => lastContact ?? []).toSorted();
  const newest = contactTimes.at(-1);
  const isSilent = state.nats.servers.size === 0 && newest !== undefined;
  if (isSilent && state.nowMs - Date.parse(newest) > CONTACT_MAX_MS) {
    const message = `No server has answered since ${newest}.`;
    return condition('Ready', 'Unknown', { reason: 'NoContact', message });
  }
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

function progressing({ next, step, waitsFor, trouble }: Decision): ConditionInput {
  if (trouble !== undefined) {
    const message = `${next === 'Nothing' ? 'It' : `${next}: this`} needs a person; see Degraded.`;
    return condition('Progressing', 'False', { reason: trouble.reason, message });
  }
  if (next === 'Nothing' && step === undefined) {
    const settled = { reason: 'Settled', message: 'Nothing is being changed.' };
    return condition('Progressing', 'False', waitsFor?.reason === 'Paused' ? waitsFor : settled);
  }
  const waits = waitsFor === undefined ? '' : ` It waits (${waitsFor.reason}).`;
  return condition('Progressing', 'True', { reason: 'Changing', message: `${next}.${waits}` });
}

const NOT_DEGRADED: Reason = { reason: 'NotDegraded', message: 'Nothing needs a person.' };

function degraded(state: State, { next, waitsFor, trouble }: Decision): ConditionInput {
  if (trouble !== undefined) return condition('Degraded', 'True', trouble);
  const stuck = stuckReasons(state);
  if (stuck[0] !== undefined) {
    return condition('Degraded', 'True', { reason: stuck[0].reason, message: joined(stuck) });
  }
  if (waitsFor === undefined || isYoung(state)) return condition('Degraded', 'False', NOT_DEGRADED);
  const missing = missingReasons(state);
  if (missing[0] !== undefined) {
    return condition('Degraded', 'True', { reason: missing[0].reason, message: joined(missing) });
  }
  const isLacking = next === 'Nothing' && waitsFor.reason !== 'Paused';
  return isLacking
    ? condition('Degraded', 'True', withoutAdvice(waitsFor))
    : condition('Degraded', 'False', NOT_DEGRADED);
}

function isYoung({ cluster, nowMs }: State): boolean {
  const createdMs = Date.parse(cluster.object.metadata.creationTimestamp ?? '');
  return nowMs - createdMs < YOUNG_MS;
}

/** Servers that no record takes away and that are not starting: they hold up the next step too. */
function missingReasons(state: State): readonly Reason[] {
  const { restarting, leaving, replacing } = state.cluster.status;
  if ([restarting, leaving, replacing].some((one) => one !== undefined)) return [];
  const missing = expected(state).filter((one) => awayReason(state, one) !== undefined);
  if (missing.every((one) => isStarting(state, one))) return [];
  return missing.flatMap((one) => awayReason(state, one) ?? []);
}
