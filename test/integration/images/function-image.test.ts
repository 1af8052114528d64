// The image of a function, as `npm run images` writes it: it runs from a read-only root as nobody,
// is the same from another directory, and says truly what is in it.
import { type ChildProcess, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bill, faultsOf, readBill } from '../../builders/cyclonedx.ts';
import { type Unpacked, start, unpack } from './unpacked.ts';

const root = resolve(import.meta.dirname, '../../..');
const out = mkdtempSync(join(tmpdir(), 'ballast-images-'));
let image: Unpacked;
let said = '';

const build = (repository: string, outDir: string, ...more: string[]): string =>
  execFileSync(
    process.execPath,
    ['knative/tools/images/main.ts', '--out', outDir, ...more, 'metadata'],
    {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );

beforeAll(() => {
  said = build(root, out, '--archive');
  image = unpack(join(out, 'metadata'), join(out, 'root'));
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

const SETTINGS = {
  PORT: '0',
  NATS_URL: 'nats://127.0.0.1:1',
  FEED_NAMESPACE: 'ballast-system',
  KUBERNETES_SERVICE_HOST: '127.0.0.1',
  KUBERNETES_SERVICE_PORT: '1',
  NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=128',
};

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('It has no output.');
  for await (const line of createInterface({ input: child.stdout })) {
    const { message, port } = JSON.parse(line) as Record<string, unknown>;
    if (message === 'listening') return Number(port);
  }
  throw new Error('It ended before it listened.');
}

describe('the image of a function', () => {
  it('serves from a read-only root as nobody in particular, and drains when told', async () => {
    const child = start(image, SETTINGS);
    const complaints = child.stderr === null ? undefined : text(child.stderr);
    const url = `http://127.0.0.1:${await portOf(child)}`;
    const ready = await fetch(`${url}/health/readiness`);
    const page = (await (await fetch(url)).json()) as { name: string };
    const ended = once(child, 'exit');
    child.kill('SIGTERM');

    expect(ready.status).toBe(200);
    expect(page.name).toBe('metadata');
    expect(await ended).toEqual([0, null]);
    expect(await complaints).toBe('');
  });

  it('looks names up, as files and DNS of a pod have them', async () => {
    const script =
      "require('node:dns').lookup('here', (e, a) => console.log(e ?? a, process.getuid()))";
    mkdirSync(join(image.root, 'etc'), { recursive: true });
    writeFileSync(join(image.root, 'etc/hosts'), '127.0.0.9 here\n');
    const child = start(image, {}, ['/usr/bin/node', '-e', script]);

    expect(child.stdout === null ? '' : await text(child.stdout)).toBe('127.0.0.9 65532\n');
  });

  it('lets everybody read it and nobody but root write it', () => {
    const readable = ['(', '-type', 'f', '!', '-perm', '-0444', ')'];
    const wide = ['(', '!', '-type', 'l', '-perm', '/0022', ')'];
    const closed = ['(', '-type', 'd', '!', '-perm', '-0555', ')'];
    const found = execFileSync('find', [image.root, ...readable, '-o', ...wide, '-o', ...closed]);

    expect(found.toString()).toBe('');
  });

  it('has the same digest from another directory, with other rights and another time', () => {
    // Beside the repository's own files, since packages are copied as hard links.
    mkdirSync(join(root, '.ballast'), { recursive: true });
    const copy = mkdtempSync(join(root, '.ballast/copy-'));
    try {
      const parts = ['functions', 'knative', 'shared', 'package.json', 'package-lock.json', '.git'];
      execFileSync('cp', ['-r', ...parts, copy], { cwd: root });
      execFileSync('cp', ['-al', 'node_modules', copy], { cwd: root });
      execFileSync('chmod', ['-R', 'go-rwx', join(copy, 'functions')]);
      const again = build(copy, join(copy, 'out'), '--archive');

      expect(again).toBe(said);
      expect(said).toMatch(/^dev\.local\/ballast\/metadata:\d.*@sha256:[0-9a-f]{64}\n$/);
      execFileSync('cmp', [join(out, 'metadata.tar'), join(copy, 'out/metadata.tar')]);
      execFileSync('cmp', [join(out, 'metadata.cdx.json'), join(copy, 'out/metadata.cdx.json')]);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
});

describe('its bill of materials', () => {
  const bill = (): Bill => readBill(join(out, 'metadata.cdx.json'));

  it('is CycloneDX as published', () => {
    expect(faultsOf(bill())).toBeNull();
  });

  it('names the image, what is bundled and what Node brings, and no tool of the build', () => {
    const { metadata, components } = bill();
    const names = components.map(({ name }) => name);
    const [node] = components;

    expect(metadata.component.purl).toContain(
      encodeURIComponent(said.trim().split('@')[1] ?? 'no digest'),
    );
    expect(names).toEqual(expect.arrayContaining(['node', 'express', 'nats', 'undici', 'pino']));
    expect(names).not.toContain('esbuild');
    expect(names).not.toContain('typescript');
    const program = readFileSync(join(image.root, 'usr/bin/node'));
    const content = createHash('sha256').update(program).digest('hex');
    expect(node?.hashes).toEqual([{ alg: 'SHA-256', content }]);
    expect(node?.components?.map(({ name }) => name)).toContain('openssl');
    expect(components.every(({ version }) => /\d/.test(version))).toBe(true);
  });
});

describe('the Dockerfile', () => {
  const dockerfile = readFileSync(join(root, 'knative/tools/images/Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ');
  const [, last = ''] = dockerfile.split(/^FROM scratch$/m);
  const instructions = (name: string): string[] =>
    [...last.matchAll(new RegExp(`^${name} +(.*)$`, 'gm'))].map(([, rest = '']) => rest);

  it('starts what we start, as whom we start it', () => {
    expect(instructions('USER')).toEqual([image.config.User]);
    expect(instructions('ENV')).toEqual(image.config.Env);
    expect(instructions('WORKDIR')).toEqual([image.config.WorkingDir]);
    expect(JSON.parse(instructions('ENTRYPOINT').join(''))).toEqual(image.config.Entrypoint);
  });

  it.runIf(process.arch === 'x64')('copies the files that we copy', () => {
    const stated = instructions('COPY').flatMap((rest) => {
      const words = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
      const to = words.at(-1) ?? '';
      if (!to.endsWith('/') || to === '/app/chunks/') return [to];
      // A pattern is for what one function alone has.
      const files = words.slice(0, -1).filter((from) => !from.includes('['));
      return files.map((from) => to + (from.split('/').at(-1) ?? ''));
    });
    const found = execFileSync('find', ['.', '-type', 'f', '-not', '-name', 'hosts'], {
      cwd: image.root,
      encoding: 'utf8',
    });
    const ours = found
      .trim()
      .split('\n')
      .map((path) => path.slice(1));
    const shown = ours.map((path) => path.replace(/^\/app\/chunks\/.*/, '/app/chunks/'));

    expect(new Set(stated)).toEqual(new Set(shown));
  });
});
