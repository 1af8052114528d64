// Five clients that create, edit, delete and re-create objects of a kind for as long as they are
// let, and know afterwards what they were told to be stored.
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { Failure } from '../../../shared/errors.ts';
import { CURRENT, NAMESPACE, oldName, type VersionedKind } from '../../builders/versioned-kind.ts';

const WRITERS = 5;
/** Each has some of the old objects and some of its own. */
const OBJECTS_EACH = 4;

/** By name; null for what was deleted last, undefined for what nobody can know. */
export type Known = ReadonlyMap<string, string | null | undefined>;

export interface Writers {
  /** Changes that the API server took so far. */
  readonly written: number;
  stop(): Promise<Known>;
}

export function startWriters(kube: KubeClient, kind: VersionedKind): Writers {
  const known = new Map<string, string | null | undefined>();
  const state = { isOver: false, written: 0 };
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; !state.isOver; turn += 1) {
      const name = nameOf(writer, turn % OBJECTS_EACH);
      try {
        known.set(name, await change(kube, kind, name, turn));
        state.written += 1;
      } catch (error) {
        // The API server was away: it may have been done, or not.
        if (!(error instanceof Failure)) throw error;
        known.set(name, undefined);
      }
      await systemClock.sleep(PAUSE_MS);
    }
  };
  const all = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  return {
    get written() {
      return state.written;
    },
    stop: async () => {
      state.isOver = true;
      await Promise.all(all);
      return known;
    },
  };
}

const PAUSE_MS = 10;
const TIMEOUT_MS = 2_000;

const nameOf = (writer: number, index: number): string =>
  index % 2 === 0 ? oldName(writer * OBJECTS_EACH + index) : `new-${writer}-${index}`;

/** The color of the object after the write, or null for none. */
async function change(
  kube: KubeClient,
  kind: VersionedKind,
  name: string,
  turn: number,
): Promise<string | null> {
  const target = { namespace: NAMESPACE, name };
  const color = `c${turn}`;
  const bounds = { timeoutMs: TIMEOUT_MS };
  const round = Math.floor(turn / OBJECTS_EACH) % 3;
  if (round === 2) {
    const anyway = { precondition: 'none', because: 'the object is its own' } as const;
    await kube.delete(kind.ref(), target, anyway, bounds);
    return null;
  }
  const { metadata, ...object } = kind.object(CURRENT, name);
  const manifest = { ...object, metadata, spec: { color, extra: { kept: name } } };
  await kube.apply(kind.ref(), manifest, { force: true, ...bounds });
  return color;
}
