import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type JobPlace, JobPlaces } from './job-places.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Two places; `events` records which job is suspended and which one resumes. */
function bench({ workers = 2, maxQueue = 100 } = {}) {
  const places = new JobPlaces({ workers, maxQueue });
  const events: string[] = [];
  const begin = async (name: string, signal = new AbortController().signal): Promise<JobPlace> => {
    const place = await places.enter({ lane: `${name}#caller#1`, signal });
    events.push(`${name} begins`);
    place.begin({ suspend: () => events.push(`${name} stands still`), resume: () => events.push(`${name} goes on`) });
    return place;
  };
  const told = (): string[] => events.splice(0);
  return { places, begin, told };
}

test('a tenant alone has all places, and its next job waits for one of them', async () => {
  const { begin, told } = bench();
  const [first] = [await begin('a'), await begin('a')];
  const third = begin('a');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told()).toEqual(['a begins', 'a begins']);
  first?.[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  expect(told()).toEqual(['a begins']);
});

test('the job of another tenant begins at once: one of those that run stands still, and goes on behind it', async () => {
  const { begin, told } = bench();
  await Promise.all([begin('a'), begin('a')]);
  void begin('a');
  told();
  const other = begin('b');
  await vi.advanceTimersByTimeAsync(200);
  expect(told()).toEqual(['a stands still', 'b begins']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told()).toEqual([]);
  (await other)[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(0);
  // The third job has not begun yet, so it is not listed.
  expect(told()).toEqual(['a goes on']);
});

test('more tenants than places take turns', async () => {
  const { begin, told } = bench();
  for (const name of ['a', 'b', 'c', 'd']) void begin(name);
  await vi.advanceTimersByTimeAsync(1000);
  const running = new Map<string, number>();
  for (const event of told()) {
    const [name = '', what] = event.split(' ');
    if (what !== 'stands') running.set(name, (running.get(name) ?? 0) + 1);
  }
  expect([...running.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
  expect(Math.min(...running.values())).toBeGreaterThan(1);
});

test('a job that waits for its client leaves its place to others, and goes on in its turn', async () => {
  const { begin, told } = bench({ workers: 1 });
  const slow = await begin('a');
  const next = begin('a');
  slow.leave();
  await vi.advanceTimersByTimeAsync(0);
  expect(told()).toEqual(['a begins', 'a begins']);
  slow.goOn();
  expect(told()).toEqual(['a stands still']);
  (await next)[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(0);
  expect(told()).toEqual(['a goes on']);
});

test('one that is suspended and ends goes on, so that its process can work for others', async () => {
  const { begin, told, places } = bench();
  const jobs = [await begin('a'), await begin('a')];
  const other = begin('b');
  await vi.advanceTimersByTimeAsync(200);
  told();
  for (const job of jobs) job[Symbol.dispose]();
  expect(told()).toEqual(['a goes on']);
  (await other)[Symbol.dispose]();
  expect([places.running.figures.held, places.open.figures.held, vi.getTimerCount()]).toEqual([0, 0, 0]);
});

test('tenants whose jobs wait for their clients leave room for one that comes: the tenant with most of them loses one', async () => {
  const { begin } = bench();
  const jobs: JobPlace[] = [];
  for (let n = 0; n < 8; n++) {
    const job = await begin('a');
    job.leave();
    jobs.push(job);
  }
  for (const name of ['b', 'c']) (await begin(name)).leave();
  const late = begin('d');
  await vi.advanceTimersByTimeAsync(200);
  await late;
  expect(jobs.filter(({ signal }) => signal.aborted)).toHaveLength(1);
});

test('a queue that is full refuses a tenant that has jobs, and not one that has none', async () => {
  const { begin } = bench({ workers: 1, maxQueue: 1 });
  const first = await begin('a');
  const second = begin('a');
  await expect(begin('a')).rejects.toMatchObject({ code: 'overloaded' });
  const other = begin('b');
  first[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(0);
  (await second)[Symbol.dispose]();
  (await other)[Symbol.dispose]();
});

test('a job that is over takes no place, though its sender comes back', async () => {
  const { begin, places } = bench({ workers: 1 });
  const job = await begin('a');
  job.leave();
  job[Symbol.dispose]();
  job.goOn();
  expect([places.running.figures.held, places.open.figures.held]).toEqual([0, 0]);
});

test('one that gives up while it waits leaves nothing', async () => {
  const { begin, places } = bench({ workers: 1 });
  const first = await begin('a');
  const abort = new AbortController();
  const second = begin('a', abort.signal);
  abort.abort(new Error('gone'));
  await expect(second).rejects.toThrow('gone');
  first[Symbol.dispose]();
  expect([places.running.figures.held, places.open.figures.held]).toEqual([0, 0]);
});
