export interface SparkExecutor {
  readonly id: string;
  readonly isActive: boolean;
  readonly completedTasks: number;
  readonly totalShuffleRead: number;
}

export interface SparkJob {
  readonly jobId: number;
  readonly status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'UNKNOWN';
  readonly numActiveTasks: number;
  readonly submissionTime: string;
}

/** What Spark says of its own application, over the REST API of its pages. */
export class SparkUi {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async jobs(): Promise<readonly SparkJob[]> {
    return (await this.#get('jobs')) as SparkJob[];
  }

  /** Also those that are lost; without the driver. */
  async executors(): Promise<readonly SparkExecutor[]> {
    const all = (await this.#get('allexecutors')) as SparkExecutor[];
    return all.filter(({ id }) => id !== 'driver');
  }

  async #get(what: string): Promise<unknown> {
    const applications = `${this.#url}/api/v1/applications`;
    const [{ id }] = (await getJson(applications)) as [{ id: string }];
    return getJson(`${applications}/${id}/${what}`);
  }
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.json();
}
