// The history of addresses, for as long as the feed's spec keeps it. It has no clock: its present
// is the newest time in any message.
import type { Tombstone } from '../../feed/messages.ts';
import { parseSubject } from '../../feed/subjects.ts';
import type { Entry } from './entry.ts';
import type { TextPool } from './sharing.ts';

/** An object that has or had an address, from its creation to its end. */
export interface Holder {
  readonly uid: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly node?: string;
  /** 0 where nobody said when it was created. */
  readonly fromMs: number;
  /** Absent while it lives. */
  readonly toMs?: number;
}

type Past = Holder & { readonly toMs: number };

/**
 * How many objects must have ended before old entries are removed: each removal passes over all.
 */
const ENDED_BETWEEN_LOOKS = 1_000;

export class History {
  readonly #pasts = new Map<string, readonly Past[]>();
  #keptMs: number;
  #latestMs = 0;
  #held = 0;
  #sinceLook = 0;

  constructor(historySeconds: number) {
    this.#keptMs = historySeconds * 1_000;
  }

  get seconds(): number {
    return this.#keptMs / 1_000;
  }

  set seconds(seconds: number) {
    this.#keptMs = seconds * 1_000;
    this.#forget();
  }

  get latestMs(): number {
    return this.#latestMs;
  }

  get size(): number {
    return this.#held;
  }

  sawTime(ms: number): void {
    if (ms > this.#latestMs) this.#latestMs = ms;
  }

  /** A snapshot may bring a message twice; it is kept once. */
  end(holder: Holder, toMs: number, ips: readonly string[]): void {
    const past: Past = { ...holder, toMs: Math.max(toMs, holder.fromMs) };
    this.sawTime(past.toMs);
    if (!this.#isKept(past)) return;
    for (const ip of new Set(ips)) {
      const all = this.#pasts.get(ip) ?? [];
      const others = all.filter(({ uid, fromMs }) => uid !== past.uid || fromMs !== past.fromMs);
      this.#pasts.set(ip, [...others, past]);
      this.#held += others.length + 1 - all.length;
      this.#sinceLook += 1;
    }
    if (this.#sinceLook >= Math.max(ENDED_BETWEEN_LOOKS, this.#held / 2)) this.#forget();
  }

  /** All that a tombstone says of what nobody here has seen. */
  learn(subject: string, { uid, at, last }: Tombstone, texts: TextPool): void {
    const key = parseSubject(subject)?.key;
    if (last === undefined || key === undefined) return;
    const { created, node, ips = [] } = last;
    const kind = texts.share(last.kind);
    const namespace = texts.share(key.namespace);
    const where = node === undefined ? {} : { node: texts.share(node) };
    const fromMs = timeOf(created);
    this.end({ uid, kind, namespace, name: key.name, ...where, fromMs }, timeOf(at), ips);
  }

  at(ip: string, timeMs: number): readonly Holder[] {
    const pasts = this.#pasts.get(ip) ?? [];
    return pasts.filter(
      (past) => past.fromMs <= timeMs && timeMs < past.toMs && this.#isKept(past),
    );
  }

  #isKept({ toMs }: Past): boolean {
    return toMs >= this.#latestMs - this.#keptMs;
  }

  #forget(): void {
    this.#sinceLook = 0;
    this.#held = 0;
    for (const [ip, pasts] of this.#pasts) {
      const kept = pasts.filter((past) => this.#isKept(past));
      if (kept.length === 0) this.#pasts.delete(ip);
      else if (kept.length < pasts.length) this.#pasts.set(ip, kept);
      this.#held += kept.length;
    }
  }
}

/** 0 where nobody said, or not in a way that can be read. */
export const timeOf = (text: string | undefined): number => Date.parse(text ?? '') || 0;

export function holderOf({ key, object }: Entry): Holder {
  const { uid, kind, node, created } = object;
  const where = node === undefined ? {} : { node };
  const { namespace, name } = key;
  return { uid, kind, namespace, name, ...where, fromMs: timeOf(created) };
}
