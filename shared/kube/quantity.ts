// Kubernetes quantities as numbers: the schema lets nothing else through. Pure.

const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Bytes, or cores; NaN for what is no quantity. */
export function quantityOf(text: string): number {
  const [, number = '', suffix = ''] =
    /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
  return number === '' ? Number.NaN : Number(number) * (FACTORS[suffix] ?? Number.NaN);
}
