// ISO 8601 durations as Knative's delivery specs write them: `PT0.2S`, `PT1M30S`, `P1D`.

const NUMBER = String.raw`(\d+(?:[.,]\d+)?)`;
const DURATION = new RegExp(
  `^P(?:${NUMBER}W)?(?:${NUMBER}D)?(?:T(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`,
);
/**
 * Milliseconds of a week, a day, an hour, a minute, a second. Years and months have no fixed length
 * and are refused.
 */
const UNIT_MS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1_000];

/** Undefined when the text is not a duration of a fixed length. */
export function durationMs(text: string): number | undefined {
  const parts = DURATION.exec(text)?.slice(1);
  if (parts === undefined || parts.every((part) => part === undefined)) return undefined;
  if (text.endsWith('T')) return undefined;
  const values = parts.map((part) => Number((part ?? '0').replace(',', '.')));
  return Math.round(values.reduce((sum, value, index) => sum + value * (UNIT_MS[index] ?? 0), 0));
}
