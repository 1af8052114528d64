// `npm run measure -- WHAT`: numbers that are no ratio against anybody, such as what a larger
// cluster costs. Ends with 2 when it was asked wrongly.
import { readArguments, UsageError } from '../../shared/arguments.ts';
import { whole } from '../whole.ts';
import { Interrupted } from '../bench/feed/system.ts';
import { FUNCTIONS, floods } from './floods/floods.ts';
import { scale } from './scale.ts';
import { soak } from './soak.ts';

const usage = `npm run measure -- scale                       at 5,000, 10,000 and 20,000 pods
npm run measure -- scale --pods 1000,2000      at other sizes, each larger than the one before
npm run measure -- soak                        memory over an hour of changes
npm run measure -- soak --minutes 5            over a shorter time
npm run measure -- floods                      memory of each function in every flood
npm run measure -- floods --only locate        of those that are named, with commas between them
npm run measure -- floods --like labels        only floods with this in their names
npm run measure -- floods --only locate --shown 100000   with so many pods in its feed
`;

/** What a shell expects after Ctrl-C. */
const ENDED_BY_SIGNAL = 130;

interface Asked {
  readonly what: string;
  readonly sizes: readonly number[];
  readonly minutes: number;
  readonly only: readonly string[];
  readonly events: number;
  readonly like: string;
  readonly shown: number;
}

function readOptions(args: readonly string[]): Asked {
  try {
    const { values, positionals } = readArguments(args, {
      pods: { type: 'string', default: '5000,10000,20000' },
      minutes: { type: 'string', default: '60' },
      like: { type: 'string', default: '' },
      events: { type: 'string', default: '100000' },
      shown: { type: 'string', default: '0' },
      only: { type: 'string', default: FUNCTIONS.join(',') },
      help: { type: 'boolean', short: 'h', default: false },
    });
    const sizes = values.pods.split(',').map((text) => whole('--pods', text));
    if (sizes.some((size, at) => size <= (sizes[at - 1] ?? 0))) {
      throw new Error('--pods wants each size larger than the one before.');
    }
    const only = values.only.split(',');
    const stranger = only.find((name) => !FUNCTIONS.some((one) => one === name));
    if (stranger !== undefined) throw new Error(`--only wants functions, not ${stranger}.`);
    const what = values.help ? 'help' : positionals.join(' ');
    const { like } = values;
    const events = whole('--events', values.events);
    const shown = values.shown === '0' ? 0 : whole('--shown', values.shown);
    const minutes = whole('--minutes', values.minutes);
    return { what, sizes, minutes, only, events, like, shown };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function run({ what, sizes, minutes, only, events, like, shown }: Asked): Promise<number> {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (what === 'scale') await scale(sizes, print);
  else if (what === 'soak') await soak(minutes, print);
  else if (what === 'floods') await floods({ only, events, like, shown }, print);
  else if (what === 'help') print(usage.trimEnd());
  else throw new UsageError(`There is no measurement ${what}.`);
  return 0;
}

async function main(): Promise<number> {
  try {
    return await run(readOptions(process.argv.slice(2)));
  } catch (error) {
    // The cluster is stopped; the helpers end with whoever forked them.
    if (error instanceof Interrupted) process.exit(ENDED_BY_SIGNAL);
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
}

process.exitCode = await main();
