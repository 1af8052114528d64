// How long an etcd keeps the history of keys: a text for both modes in v1alpha1, a number with its
// unit for each of them in v1beta1.
import type { Fields, Part } from '../part.ts';

/** As the rules of v1alpha1 let it in. */
const TIME = /^([1-9][0-9]{0,4})(m|h)$/;
const REVISIONS = /^[1-9][0-9]{0,9}$/;
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;

export const compaction = (at: readonly string[]): Part => ({
  at,
  names: ['mode', 'retention', 'retentionSeconds', 'retentionRevisions'],
  up,
  down,
});

function up({ mode, retention }: Fields): Fields {
  const base = mode === undefined ? {} : { mode };
  if (typeof retention !== 'string') return base;
  const [, count, unit] = TIME.exec(retention) ?? [];
  if (mode === 'Periodic' && count !== undefined) {
    const seconds = Number(count) * (unit === 'h' ? HOUR_SECONDS : MINUTE_SECONDS);
    return { ...base, retentionSeconds: seconds };
  }
  const isRevision = mode === 'Revision' && REVISIONS.test(retention);
  return isRevision ? { ...base, retentionRevisions: Number(retention) } : base;
}

function down({ mode, retentionSeconds, retentionRevisions }: Fields): Fields {
  const base = mode === undefined ? {} : { mode };
  const retention =
    mode === 'Periodic' ? textOfTime(retentionSeconds) : textOfRevisions(mode, retentionRevisions);
  return retention === undefined ? base : { ...base, retention };
}

function textOfTime(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || seconds <= 0) return undefined;
  const isHours = seconds % HOUR_SECONDS === 0;
  const text = isHours ? `${seconds / HOUR_SECONDS}h` : `${seconds / MINUTE_SECONDS}m`;
  return TIME.test(text) ? text : undefined;
}

function textOfRevisions(mode: unknown, revisions: unknown): string | undefined {
  if (mode !== 'Revision' || typeof revisions !== 'number') return undefined;
  const text = String(revisions);
  return REVISIONS.test(text) ? text : undefined;
}
