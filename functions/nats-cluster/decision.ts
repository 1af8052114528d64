// The result of a plan: at most one step, the next action in words, and the reason to wait.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { RenderedPart } from './render/manifests.ts';
import type { Claim, Pod, Records, SecretToMake } from './state.ts';

/** One change that others can see. */
export type Step =
  | { readonly type: 'make-secret'; readonly secret: SecretToMake }
  | { readonly type: 'apply'; readonly part: RenderedPart }
  | { readonly type: 'grow'; readonly claim: Claim; readonly size: string }
  /**
   * Deletes the StatefulSet alone and leaves its pods to the next one: its claim template is
   * immutable.
   */
  | { readonly type: 'orphan'; readonly uid: string; readonly resourceVersion: string }
  | { readonly type: 'reload'; readonly server: string; readonly id: string }
  | { readonly type: 'step-down'; readonly from: string; readonly to: string | undefined }
  | { readonly type: 'restart'; readonly pod: Pod; readonly reason: string }
  | {
      readonly type: 'move';
      readonly account: string;
      readonly stream: string;
      readonly server: string;
    }
  | { readonly type: 'remove-peer'; readonly server: string; readonly peerId: string }
  | { readonly type: 'delete-claim'; readonly claim: Claim; readonly server: string }
  | { readonly type: 'delete-pod'; readonly pod: Pod; readonly reason: string }
  | WriteRecords;

/** Changes only the records in the status: before something is destroyed, and after. */
export interface WriteRecords {
  readonly type: 'write-records';
  readonly records: Records;
}

export interface Decision {
  /** Undefined when it has to wait, or when there is nothing to do. */
  readonly step?: Step;
  /** The next action, for people: `Restart nats-2`. */
  readonly next: string;
  readonly waitsFor?: Reason;
  /** A reason that needs a person; Degraded shows it. */
  readonly trouble?: Reason;
}

export const NOTHING: Decision = { next: 'Nothing' };

/** Thousands of streams may be late at once; a person begins with the first. */
const REASONS_SHOWN_MAX = 8;

/** Messages as one text. */
export function joined(reasons: readonly Reason[]): string {
  const shown = reasons.slice(0, REASONS_SHOWN_MAX).map(({ message }) => message);
  const left = reasons.length - shown.length;
  return [...shown, ...(left > 0 ? [`And ${left} more.`] : [])].join(' ');
}

/** Names in a sentence. */
export function listed(names: readonly string[]): string {
  const left = names.length - REASONS_SHOWN_MAX;
  const shown = names.slice(0, REASONS_SHOWN_MAX).join(', ');
  return left > 0 ? `${shown} and ${left} more` : shown;
}

/** A decision to wait, with the first blocker as the reason and all of them in the message. */
export const waitFor = (next: string, blockers: readonly Reason[], trouble?: Reason): Decision => ({
  next,
  waitsFor: {
    reason: blockers[0]?.reason ?? 'Waiting',
    message: joined(blockers),
  },
  ...(trouble === undefined ? {} : { trouble }),
});
