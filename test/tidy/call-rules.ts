// Tidy rules about calls: each thing that only certain files may do, with the reason and the way
// to do it instead.

import type { Finding, Rule } from './rule.ts';
import { perFile } from './rule.ts';
import type { Source } from './sources.ts';
import type { Node } from './syntax.ts';
import { dotted, isNode, lineAt, walk } from './syntax.ts';

interface Ban {
  readonly name: string;
  readonly of: RegExp;
  /** The files the ban holds in, without those that own the matter. */
  readonly within: RegExp;
  readonly except: RegExp;
  readonly reason: string;
  readonly instead: string;
}

const bans: readonly Ban[] = [
  {
    name: 'environment',
    of: /^(process\.)?env$/,
    within: /^(functions|shared|knative)\//,
    except: /(^|\/)(config|settings)\.ts$|^shared\/function\/serve\.ts$/,
    reason: 'a setting that is read far from the start becomes a surprise far from the start',
    instead: 'read it in config.ts and hand it over.',
  },
  {
    name: 'clock',
    of: /^(Date\.now|performance\.now|setTimeout|setInterval)$/,
    within: /^(functions|shared)\//,
    // A page draws by the frames of a browser, which has its own.
    except: /^shared\/clock\.ts$|^functions\/[^/]+\/page\//,
    reason: 'what reads the real time cannot be tested in another',
    instead: 'take a Clock and ask it.',
  },
  {
    name: 'arguments',
    of: /^parseArgs$/,
    within: /./,
    except: /^shared\/arguments\.ts$/,
    reason: "the words of Node's parser advise what no command here understands",
    instead: 'call readArguments of shared/arguments.ts.',
  },
  {
    name: 'user',
    of: /^userInfo$/,
    within: /./,
    except: /^$/,
    reason: 'it fails for a user that no file of users knows, as containers have them',
    instead: 'call userId of knative/try/local/process/user-id.ts.',
  },
  {
    name: 'process-exit',
    of: /^process\.(exit|abort)$/,
    within: /./,
    except:
      /^(knative\/t\w+\/[\w-]+\/(start|dev|main)|shared\/function\/serve|test\/\w+\/main)\.ts$/,
    reason: 'an exit in the middle loses what others have yet to write or close',
    instead: 'throw, or set process.exitCode in the entry file.',
  },
];

const bannedCall = (ban: Ban): Rule => ({
  name: ban.name,
  reason: ban.reason,
  check: perFile(function* (source) {
    if (!ban.within.test(source.path) || ban.except.test(source.path)) return;
    for (const { name, lineOf } of namesIn(source)) {
      if (ban.of.test(name))
        yield { line: lineOf(), message: `${name} is not for this file: ${ban.instead}` };
    }
  }),
});

interface Use {
  readonly name: string;
  readonly lineOf: () => number;
}

const known = new WeakMap<Source, readonly Use[]>();

/** Found once for all bans. */
function namesIn(source: Source): readonly Use[] {
  const uses = known.get(source) ?? [...namesUsed(source)];
  known.set(source, uses);
  return uses;
}

/** Member accesses, plain calls, and names imported from node's own modules. */
function* namesUsed({ nodes, text, imports }: Source): Generator<Use> {
  for (const { from, names, line } of imports) {
    if (/^node:(process|timers|timers\/promises|perf_hooks)$/.test(from)) {
      for (const one of names) {
        yield { name: from === 'node:process' ? `process.${one}` : one, lineOf: () => line };
      }
    }
  }
  for (const node of nodes) {
    const callee = node.type === 'CallExpression' ? node['callee'] : undefined;
    const isPlainCall = isNode(callee) && callee.type === 'Identifier';
    const named = node.type === 'MemberExpression' ? node : isPlainCall ? callee : undefined;
    const name = dotted(named)?.replace(/^globalThis\./, '');
    if (name !== undefined) yield { name, lineOf: () => lineAt(text, node.start) };
  }
}

const sleeps: Rule = {
  name: 'fixed-sleep',
  reason: 'a fixed wait is too short on a slow machine and too long on every other',
  check: perFile(function* (source) {
    const { path, syntax, text } = source;
    if (!path.startsWith('test/') || syntax === undefined) return;
    const message = 'await the condition itself (expect.poll, vi.waitFor, an event).';
    for (const { from, line } of source.imports) {
      if (from === 'node:timers/promises') yield { line, message };
    }
    if (!text.includes('setTimeout')) return;
    for (const [node, parents] of walk(syntax)) {
      if (isTimerPromise(node, parents)) yield { line: lineAt(text, node.start), message };
    }
  }),
};

/** `setTimeout` right inside the function that a promise is made of, handed its resolver. */
function isTimerPromise(node: Node, parents: readonly Node[]): boolean {
  if (node.type !== 'CallExpression' || dotted(node['callee']) !== 'setTimeout') return false;
  const maker = parents.findLast((parent) => parent.type === 'NewExpression');
  if (maker === undefined || dotted(maker['callee']) !== 'Promise') return false;
  const [executor] = Array.isArray(maker['arguments']) ? maker['arguments'] : [];
  const [resolver] =
    isNode(executor) && Array.isArray(executor['params']) ? executor['params'] : [];
  const [handed] = Array.isArray(node['arguments']) ? node['arguments'] : [];
  return dotted(resolver) !== undefined && dotted(resolver) === dotted(handed);
}

/** As for any other function; describe blocks hold many tests and are bound by the file. */
const maxTestLines = 50;

const testLength: Rule = {
  name: 'test-length',
  reason: 'a test that does not fit on a screen proves something nobody can name',
  check: perFile(function* ({ path, nodes, text }): Iterable<Omit<Finding, 'path'>> {
    if (!path.endsWith('.test.ts')) return;
    for (const node of nodes) {
      const name = node.type === 'CallExpression' ? dotted(node['callee']) : undefined;
      if (name === undefined || !/^(it|test|beforeAll|beforeEach)(\.|$)/.test(name)) continue;
      const line = lineAt(text, node.start);
      const length = lineAt(text, node.end) - line + 1;
      if (length <= maxTestLines) continue;
      yield { line, message: `${length} lines; split the case or name a helper for its steps.` };
    }
  }),
};

export const callRules: readonly Rule[] = [...bans.map(bannedCall), sleeps, testLength];
