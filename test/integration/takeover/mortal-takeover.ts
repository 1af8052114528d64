// The function takeover, with somebody who is told before and after each of its writes, and of each
// change of members that it asks for, and may end it there, as a process that dies: what it wrote
// before is written, and nothing comes after.
import type { Deps } from '../../../functions/takeover/deps.ts';
import type { Door } from '../../../functions/takeover/door.ts';
import { takeover } from '../../../functions/takeover/index.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

const WRITES = ['create', 'apply', 'patch', 'delete'] as const;

/** `write` as `patch services`; whoever throws ends the function. */
export type Witness = (when: 'before' | 'after', write: string) => Promise<void>;

/** The witness of one that lives on. */
export const alive: Witness = async () => undefined;

export interface Deaths {
  readonly witness: Witness;
  /** `before patch services` and so on. */
  readonly seen: ReadonlySet<string>;
  /** Until a test takes it back, with another process. */
  isDead: boolean;
}

/** A witness of one that dies before and after each write, once each. */
export function deaths(): Deaths {
  const told = { witness: alive, seen: new Set<string>(), isDead: false };
  let isSpared = false;
  const die = (write: string): never => {
    told.isDead = true;
    told.seen.add(write);
    throw new Error(`it died ${write}`);
  };
  told.witness = async (when, write) => {
    if (told.isDead) throw new Error('it is dead');
    // Events are no change of anything.
    if (write === 'create events') return;
    if (when === 'before' && !isSpared) {
      isSpared = true;
      die(`before ${write}`);
    }
    if (when === 'before') return;
    isSpared = false;
    die(`after ${write}`);
  };
  return told;
}

export const mortalTakeover = (witness: Witness): typeof takeover => ({
  ...takeover,
  open: async (config, scope) => {
    const deps: Deps = await takeover.open(config, scope);
    const kube = watched(deps.kube, witness);
    return Object.assign(deps, { kube, door: watchedDoor(deps.door, witness) });
  },
});

const watchedDoor = (door: Door, witness: Witness): Door => ({
  ...door,
  add: around('etcd add', door.add, witness),
  remove: around('etcd remove', door.remove, witness),
  moveLeader: around('etcd move leader', door.moveLeader, witness),
});

const around =
  <Args extends readonly unknown[]>(
    write: string,
    call: (...args: Args) => Promise<void>,
    witness: Witness,
  ) =>
  async (...args: Args): Promise<void> => {
    await witness('before', write);
    await call(...args);
    await witness('after', write);
  };

function watched(kube: KubeClient, witness: Witness): KubeClient {
  return new Proxy(kube, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = (...args: readonly unknown[]): unknown => Reflect.apply(value, target, args);
      const verb = WRITES.find((one) => one === name);
      return verb === undefined ? call : seen(verb, call, witness);
    },
  });
}

const seen =
  (verb: string, call: (...args: readonly unknown[]) => unknown, witness: Witness) =>
  async (...args: readonly unknown[]): Promise<unknown> => {
    const { resource } = Object(args[0]) as { readonly resource?: string };
    const isDry = args.some((one) => Object(one).dryRun === true);
    // The Lease of the sweep is about no Takeover.
    if (isDry || resource === 'leases') return call(...args);
    const write = `${verb} ${resource}`;
    await witness('before', write);
    const answer = await call(...args);
    await witness('after', write);
    return answer;
  };
