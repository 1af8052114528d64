// What a look comes to: at most one step, what is to be done next, and what that waits for.
import type { RenderedPart } from './render/manifests.ts';
import type { Claim, Pod, Records, SecretToMake, Word } from './world.ts';

/** Each changes one thing that others can see. */
export type Step =
  | { readonly take: 'make-secret'; readonly secret: SecretToMake }
  | { readonly take: 'apply'; readonly part: RenderedPart }
  | { readonly take: 'grow'; readonly claim: Claim; readonly size: string }
  /** The StatefulSet goes, and its pods stay for the next one: its claim template cannot change. */
  | { readonly take: 'orphan'; readonly uid: string; readonly resourceVersion: string }
  | { readonly take: 'reload'; readonly server: string; readonly id: string }
  | { readonly take: 'step-down'; readonly from: string; readonly to: string | undefined }
  | { readonly take: 'restart'; readonly pod: Pod; readonly reason: string }
  | {
      readonly take: 'move';
      readonly account: string;
      readonly stream: string;
      readonly server: string;
    }
  | { readonly take: 'remove-peer'; readonly server: string; readonly peerId: string }
  | { readonly take: 'delete-claim'; readonly claim: Claim; readonly server: string }
  | { readonly take: 'delete-pod'; readonly pod: Pod; readonly reason: string }
  | Remember;

/** Only what the status remembers changes: before something is destroyed, and after. */
export interface Remember {
  readonly take: 'remember';
  readonly records: Records;
}

export interface Decision {
  /** Undefined when it has to wait, or when there is nothing to do. */
  readonly step?: Step;
  /** What is done next, for people: `Restart nats-2`. */
  readonly next: string;
  readonly waitsFor?: Word;
  /** What needs a person. */
  readonly trouble?: Word;
}

export const NOTHING: Decision = { next: 'Nothing' };

/** Thousands of streams may be late at once; a person begins with the first. */
const WORDS_SHOWN_MAX = 8;

/** One sentence after the other. */
export function joined(words: readonly Word[]): string {
  const shown = words.slice(0, WORDS_SHOWN_MAX).map(({ message }) => message);
  const left = words.length - shown.length;
  return [...shown, ...(left > 0 ? [`And ${left} more.`] : [])].join(' ');
}

/** Names in a sentence. */
export function listed(names: readonly string[]): string {
  const left = names.length - WORDS_SHOWN_MAX;
  const shown = names.slice(0, WORDS_SHOWN_MAX).join(', ');
  return left > 0 ? `${shown} and ${left} more` : shown;
}

/** What speaks against it. */
export const waitFor = (next: string, words: readonly Word[], trouble?: Word): Decision => ({
  next,
  waitsFor: {
    reason: words[0]?.reason ?? 'Waiting',
    message: joined(words),
  },
  ...(trouble === undefined ? {} : { trouble }),
});
