// What a cluster's status says, from what was seen and what was decided. Pure; it says the same of
// the same, so that a cluster at rest is not written at all.
import type {
  NatsClusterStatus,
  ServerStatus,
  StreamAtRisk,
} from '../../shared/api/nats-cluster.ts';
import { cut } from '../../shared/cut.ts';
import type { ConditionInput } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { isConverged } from './decide.ts';
import { type Decision, joined } from './decision.ts';
import { atRisk, stuckWords, whyAway } from './gate.ts';
import { isOnWantedConfig } from './reload.ts';
import { selectorText } from './render/labels.ts';
import { isStarting, startingSince } from './starting.ts';
import { rangeOf } from './version.ts';
import {
  expected,
  isPodCurrent,
  isUp,
  sizeOf,
  type Word,
  type World,
  type Records,
} from './world.ts';

export interface Saying {
  readonly status: Omit<NatsClusterStatus, 'conditions'>;
  readonly conditions: readonly ConditionInput[];
}

/** When a server answered last, as far as this instance knows. */
export type Contacts = ReadonlyMap<string, number>;

/** Nobody has answered for so long that what was known last says nothing any more. */
const CONTACT_MAX_MS = 60_000;
/** What a cluster lacks while it is so young is on its way. */
const YOUNG_MS = 600_000;
/** What a table shows. */
const WAITS_BYTES_MAX = 2_000;
/** More of them nobody reads, and a status has an end. */
const RISKS_SHOWN_MAX = 32;

export function sayingOf(
  world: World,
  decision: Decision,
  records: Records,
  contacts: Contacts,
): Saying {
  const { cluster, nats } = world;
  const servers = expected(world).map((one) => serverStatus(world, one, contacts));
  const up = servers.filter((one) => one.ready).length;
  const risks = atRisk(world).slice(0, RISKS_SHOWN_MAX);
  const version = rangeOf([...nats.servers.values()].map((one) => one.version));
  const { next, waitsFor } = decision;
  const status = {
    observedGeneration: cluster.generation,
    replicas: sizeOf(world.parts) ?? 0,
    selector: selectorText(cluster),
    ready: `${up}/${Math.max(servers.length, cluster.spec.replicas)}`,
    ...(version === undefined ? {} : { version }),
    ...(nats.meta === undefined ? {} : { metaLeader: nats.meta.leader }),
    servers,
    ...(risks.length === 0 ? {} : { streamsAtRisk: risks.map(plain) }),
    plan: { next, ...(waitsFor === undefined ? {} : { waitsFor: shortly(decision) }) },
    ...records,
  };
  return { status, conditions: conditionsOf(world, decision, servers) };
}

/** A person is waited for: what is to be done stands in Degraded. */
function shortly({ waitsFor, trouble }: Decision): string {
  const word = trouble === undefined ? waitsFor : inShort(trouble);
  return cut(word?.message ?? '', WAITS_BYTES_MAX);
}

const plain = ({ account, stream, consumer, reason }: StreamAtRisk): StreamAtRisk => ({
  account,
  stream,
  ...(consumer === undefined ? {} : { consumer }),
  reason,
});

function serverStatus(world: World, name: string, contacts: Contacts): ServerStatus {
  const before = (world.cluster.status.servers ?? []).find((one) => one.name === name);
  const seen = world.nats.servers.get(name);
  const { meta } = world.nats;
  const since = startingSince(world, name);
  const starting = since === undefined ? {} : { startingSince: since };
  if (seen === undefined) {
    const lastContact = silentSince(world, before, contacts.get(name));
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
    version: seen.version,
    ...(meta === undefined ? {} : { role: meta.leader === name ? 'MetaLeader' : 'Follower' }),
    ready: isUp(world, name),
    configDigest: seen.digest,
    upToDate: isPodCurrent(world, name) && isOnWantedConfig(world, name),
    ...starting,
  };
  const { lastContact = timestamp(world.nowMs), ...rest } = before ?? {};
  const isSame = JSON.stringify(sortedFields(rest)) === JSON.stringify(sortedFields(now));
  return { ...now, lastContact: isSame ? lastContact : timestamp(world.nowMs) };
}

const sortedFields = (fields: object): readonly (readonly [string, unknown])[] =>
  Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** As it was said; or, when it has just fallen silent, when it was last heard. */
function silentSince(
  world: World,
  before: ServerStatus | undefined,
  contactMs: number | undefined,
): string | undefined {
  if (before === undefined) return undefined;
  if (before.ready !== true && before.configDigest === undefined) return before.lastContact;
  return timestamp(contactMs ?? world.nowMs);
}

function conditionsOf(
  world: World,
  decision: Decision,
  servers: readonly ServerStatus[],
): readonly ConditionInput[] {
  return [ready(world, decision, servers), progressing(decision), degraded(world, decision)];
}

const say = (type: string, status: ConditionInput['status'], word: Word): ConditionInput => ({
  type,
  status,
  ...word,
});

function ready(world: World, decision: Decision, servers: readonly ServerStatus[]): ConditionInput {
  if (isConverged(world, decision)) {
    const whole =
      'Every server is as the spec says, and every stream is current on all of its own.';
    const { notice } = world.parts;
    const message = notice === undefined ? whole : `${whole} ${notice}`;
    return say('Ready', 'True', { reason: 'Whole', message });
  }
  const heard = servers.flatMap(({ lastContact }) => lastContact ?? []).toSorted();
  const newest = heard.at(-1);
  const isSilent = world.nats.servers.size === 0 && newest !== undefined;
  if (isSilent && world.nowMs - Date.parse(newest) > CONTACT_MAX_MS) {
    const message = `No server has answered since ${newest}.`;
    return say('Ready', 'Unknown', { reason: 'NoContact', message });
  }
  const { next, waitsFor, trouble } = decision;
  if (trouble !== undefined) return say('Ready', 'False', inShort(trouble));
  const word = waitsFor ?? { reason: 'Changing', message: `It is to be changed: ${next}.` };
  return say('Ready', 'False', word);
}

/** What it is, without what to do: that stands in Degraded alone. */
const inShort = ({ reason, message }: Word): Word => ({
  reason,
  message: `${/^.*?[^.](?=[;.]\s|\.?$)/.exec(message)?.[0] ?? message}.`,
});

function progressing({ next, step, waitsFor, trouble }: Decision): ConditionInput {
  if (trouble !== undefined) {
    const message = `${next === 'Nothing' ? 'It' : `${next}: this`} needs a person; see Degraded.`;
    return say('Progressing', 'False', { reason: trouble.reason, message });
  }
  if (next === 'Nothing' && step === undefined) {
    const settled = { reason: 'Settled', message: 'Nothing is being changed.' };
    return say('Progressing', 'False', waitsFor?.reason === 'Paused' ? waitsFor : settled);
  }
  const waits = waitsFor === undefined ? '' : ` It waits (${waitsFor.reason}).`;
  return say('Progressing', 'True', { reason: 'Changing', message: `${next}.${waits}` });
}

const WELL: Word = { reason: 'NotDegraded', message: 'Nothing needs a person.' };

function degraded(world: World, { next, waitsFor, trouble }: Decision): ConditionInput {
  if (trouble !== undefined) return say('Degraded', 'True', trouble);
  const stuck = stuckWords(world);
  if (stuck[0] !== undefined) {
    return say('Degraded', 'True', { reason: stuck[0].reason, message: joined(stuck) });
  }
  if (waitsFor === undefined || isYoung(world)) return say('Degraded', 'False', WELL);
  const missing = missingWords(world);
  if (missing[0] !== undefined) {
    return say('Degraded', 'True', { reason: missing[0].reason, message: joined(missing) });
  }
  const isLacking = next === 'Nothing' && waitsFor.reason !== 'Paused';
  return isLacking ? say('Degraded', 'True', inShort(waitsFor)) : say('Degraded', 'False', WELL);
}

function isYoung({ cluster, nowMs }: World): boolean {
  const createdMs = Date.parse(cluster.object.metadata.creationTimestamp ?? '');
  return nowMs - createdMs < YOUNG_MS;
}

/** Servers that nobody has taken away and that are not on their way: all that is next waits too. */
function missingWords(world: World): readonly Word[] {
  const { restarting, leaving, replacing } = world.cluster.status;
  if ([restarting, leaving, replacing].some((one) => one !== undefined)) return [];
  const missing = expected(world).filter((one) => whyAway(world, one) !== undefined);
  if (missing.every((one) => isStarting(world, one))) return [];
  return missing.flatMap((one) => whyAway(world, one) ?? []);
}
