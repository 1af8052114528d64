// Senders by address: nobody but this machine unless somebody says so, and then only through hops
// that are all allowed.
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AllowedAddresses, addressRanges } from '../../../shared/function/senders/addresses.ts';
import { postEvent, started } from '../started.ts';

const request = (peer: string, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

function isAllowed(ranges: string, peer: string, forwarded?: string): boolean {
  try {
    new AllowedAddresses(addressRanges(ranges)).assertAllowed(request(peer, forwarded));
    return true;
  } catch {
    return false;
  }
}

describe('a function that was told nothing', () => {
  it('takes events of this machine, and none that a proxy brings from elsewhere', async () => {
    const running = await started({});
    const foreign = await postEvent(running.url, { 'x-forwarded-for': '10.244.0.9' });

    expect((await postEvent(running.url)).status).toBe(204);
    expect((await fetch(running.url, { headers: { 'x-forwarded-for': '10.0.0.1' } })).status).toBe(
      200,
    );
    expect(foreign.status).toBe(403);
    expect(await foreign.json()).toMatchObject({ code: 'SENDER_ADDRESS_FORBIDDEN' });
    await running.stop();
  });
});

const PODS = '10.244.0.0/16';

describe('the way of a request', () => {
  it.each([
    ['straight from a pod', '10.244.1.2', undefined, true],
    ['straight from elsewhere', '203.0.113.7', undefined, false],
    ['by the proxy in the pod', '127.0.0.1', '10.244.1.2', true],
    ['as IPv4 in IPv6', '::ffff:127.0.0.1', '10.244.1.2, ::ffff:10.244.3.4', true],
    ['by gateway and activator', '::1', '10.244.1.2, 10.244.3.4,10.244.5.6', true],
    ['from elsewhere, by a gateway', '127.0.0.1', '203.0.113.7, 10.244.3.4', false],
    ['from elsewhere, claiming to be a pod', '127.0.0.1', '10.244.1.2, 203.0.113.7', false],
    ['past the proxy, claiming to be a pod', '203.0.113.7', '10.244.1.2', false],
    ['with ports', '127.0.0.1', '10.244.1.2:5123', true],
    ['with what is no address', '127.0.0.1', 'unknown, 10.244.1.2', false],
    ['with nothing between commas', '127.0.0.1', '10.244.1.2,', false],
    ['of this machine, which is not in the list', '127.0.0.1', undefined, false],
    ['of nobody', '', undefined, false],
  ])('%s is judged hop by hop', (_, peer, forwarded, allowed) => {
    expect(isAllowed(PODS, peer, forwarded)).toBe(allowed);
  });

  it('of IPv6 is judged alike', () => {
    expect(isAllowed('2001:db8::/32', '::1', '[2001:db8::7]:80')).toBe(true);
    expect(isAllowed('2001:db8::/32', '::1', '2001:db9::7')).toBe(false);
  });

  it('is never let in by what a stranger writes before his own address', () => {
    const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.244.0.1', '127.0.0.1', '', '"'));
    fc.assert(
      fc.property(fc.array(hop), (claims) => {
        const way = [...claims, '203.0.113.7', '10.244.3.4'].join(', ');
        expect(isAllowed(`${PODS}, loopback`, '127.0.0.1', way)).toBe(false);
      }),
    );
  });

  it('that was found good once is no pass for another', () => {
    const allowed = new AllowedAddresses(addressRanges(PODS));
    allowed.assertAllowed(request('127.0.0.1', '10.244.1.2'));
    expect(() => allowed.assertAllowed(request('127.0.0.1', '203.0.113.7'))).toThrow(/not taken/);
    expect(() => allowed.assertAllowed(request('203.0.113.7', '10.244.1.2'))).toThrow(/not taken/);
  });
});

describe('the list', () => {
  it('has words for what is usual', () => {
    expect(isAllowed('private', '100.64.3.1')).toBe(true);
    expect(isAllowed('private', '8.8.8.8')).toBe(false);
    expect(isAllowed('any', '8.8.8.8', '2001:db8::1')).toBe(true);
    expect(isAllowed('10.1.2.3', '10.1.2.4')).toBe(false);
  });

  it.each(['10.244.0.0/33', '10.244', 'pods', '10.0.0.0/8/9', '::/129', '10.0.0.0/'])(
    'refuses %s, and says what it takes',
    (text) => {
      expect(() => addressRanges(text)).toThrow(/not a list of addresses.*any, private, loopback/);
    },
  );
});
