// The page /metrics: our own instruments, written in Prometheus' text format, and what
// prom-client knows about the process. Loaded at the first scrape, since neither a cold start nor
// an event needs it.
import { Registry, collectDefaultMetrics } from 'prom-client';
import type { AnyInstrument, Histogram, Labels, Metrics } from './metrics.ts';

export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}

export function openMetricsPage(metrics: Metrics): MetricsPage {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    // Two halves of one page, since prom-client's histogram takes no buckets that were counted
    // elsewhere.
    text: async () => `${[...metrics.all()].map(written).join('')}${await registry.metrics()}`,
  };
}

/** One instrument with all its series. */
export function written(instrument: AnyInstrument): string {
  const { name, help, kind } = instrument;
  const lines = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${kind}`];
  if (instrument.kind === 'histogram') lines.push(...histogramLines(instrument));
  else {
    for (const { labels, value } of instrument.cells)
      lines.push(`${name}${braces(labels)} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function* histogramLines({ name, bounds, cells }: Histogram): Iterable<string> {
  for (const { labels, counts, sum } of cells) {
    let total = 0;
    for (const [slot, count] of counts.entries()) {
      total += count;
      yield `${name}_bucket${braces({ ...labels, le: String(bounds[slot] ?? '+Inf') })} ${total}`;
    }
    yield `${name}_sum${braces(labels)} ${sum}`;
    yield `${name}_count${braces(labels)} ${total}`;
  }
}

function braces(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
