// Lines of the watch: one per change or state, for people or as JSON.
import type { Change } from '../../../../shared/nats/replica/changes.ts';
import type { Entry } from '../../../../shared/nats/replica/entry.ts';
import type { ReplicaState } from '../../../../shared/nats/replica/state.ts';
import { differenceInWords } from './difference.ts';

export interface Lines {
  change(change: Change, atMs: number): string;
  state(state: ReplicaState, atMs: number): string;
}

export const jsonLines: Lines = {
  change(change, atMs) {
    const head = { time: isoTime(atMs), type: change.type, version: change.version };
    if (change.type === 'resync') return JSON.stringify({ ...head, missed: change.missed });
    const { subject, key, object } = change.entry;
    const moved = change.type === 'removed' && change.moved === true ? { moved: true } : {};
    return JSON.stringify({ ...head, ...moved, subject, ...key, object });
  },
  state: (state, atMs) => JSON.stringify({ time: isoTime(atMs), type: 'state', ...state }),
};

export const plainLines: Lines = {
  change(change, atMs) {
    const verb = change.type.padEnd(7);
    if (change.type === 'resync') {
      return `${clockTime(atMs)}  ${verb}  ${change.missed} changes were missed; all that is held:`;
    }
    const { kind } = change.entry.object;
    const words = [kind, nameOf(change.entry), wordsOf(change)].filter((word) => word !== '');
    return `${clockTime(atMs)}  ${verb}  ${words.join('  ')}  @${change.version}`;
  },
  state({ phase, version, why, verifiedVersion, isStale, sweptAtMs }, atMs) {
    const verified = verifiedVersion === undefined ? '' : `, verified at ${verifiedVersion}`;
    const reason = why === undefined ? '' : `: ${why}`;
    const stale = isStale === true ? `, ${staleWords(sweptAtMs, atMs)}` : '';
    return `${clockTime(atMs)}  --- ${phase} at ${version}${verified}${stale}${reason}`;
  },
};

const staleWords = (sweptAtMs: number | undefined, atMs: number): string =>
  sweptAtMs === undefined
    ? 'stale: nobody sweeps it'
    : `stale: not swept for ${Math.round((atMs - sweptAtMs) / 1_000)} s`;

function wordsOf(change: Exclude<Change, { type: 'resync' }>): string {
  if (change.type === 'changed') {
    return differenceInWords(change.previous.object, change.entry.object);
  }
  if (change.type === 'removed') return change.moved === true ? 'moved' : '';
  const { phase, node, ips = [] } = change.entry.object;
  const where = node === undefined ? undefined : `on ${node}`;
  return [phase, where, ...ips].filter((word) => word !== undefined).join(' ');
}

const nameOf = ({ key: { namespace, name } }: Entry): string =>
  namespace === '' ? name : `${namespace}/${name}`;

const isoTime = (atMs: number): string => new Date(atMs).toISOString();
const clockTime = (atMs: number): string => isoTime(atMs).slice(11, 23);
