// A life that ends at one of its writes: either that write is the first thing that does not happen
// any more, or the last thing that did.

export type Moment = 'before' | 'after';

export interface Death {
  /** At which of its writes, from 1. */
  readonly write: number;
  readonly moment: Moment;
}

export class Killed extends Error {}

/** How a door writes: undefined for calls that change nothing, else what to call the write. */
export type Writing = (method: string, args: readonly unknown[]) => string | undefined;

export interface Life {
  /** The door as this life has it. */
  readonly proxy: <Target extends object>(proxy: Target, writing: Writing) => Target;
  /** At what it died; undefined when it outlived all. */
  readonly lastWord: () => string | undefined;
}

/** `meanwhile` happens after each write that it survives. */
export function lifeUntil(
  death: Death | undefined,
  meanwhile: (written: string) => Promise<void> = () => Promise.resolve(),
): Life {
  let writes = 0;
  let last: string | undefined;
  const write = async (word: string, work: () => unknown): Promise<unknown> => {
    writes += 1;
    if (writes !== death?.write) {
      const done = await work();
      await meanwhile(word);
      return done;
    }
    last = word;
    if (death.moment === 'after') await work();
    throw new Killed();
  };
  const proxy = <Target extends object>(real: Target, writing: Writing): Target =>
    new Proxy(real, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        // The connections of a dead process are closed for it.
        if (typeof member !== 'function') return member;
        if (name === 'close') return () => Reflect.apply(member, target, []) as unknown;
        return (...args: readonly unknown[]) => {
          if (last !== undefined) throw new Killed();
          const word = writing(String(name), args);
          const work = (): unknown => Reflect.apply(member, target, args);
          // Reads are also streams, which are no promises.
          return word === undefined ? work() : write(word, work);
        };
      },
    });
  return { proxy, lastWord: () => last };
}

const KUBE_WRITES: readonly string[] = ['apply', 'patch', 'create', 'update', 'delete'];

/** As `apply storagemigrations`; dry runs are no writes. */
export const kubeWriting: Writing = (method, args) => {
  if (!KUBE_WRITES.includes(method)) return undefined;
  const isDry = args.some((one) => (one as { readonly dryRun?: boolean } | null)?.dryRun);
  return isDry ? undefined : `${method} ${(args[0] as { readonly resource: string }).resource}`;
};
