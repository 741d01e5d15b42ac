import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { analyzeSql } from './analyze.ts';

const connection = duckDbConnection();

/** Queries like those of TPC-DS, in our own words: the question, the tables, the text. */
const questions: readonly [string, string, string][] = [
  [
    'returns above the average of a store',
    'customer date_dim store store_returns',
    `WITH ctr AS (
      SELECT sr_customer_sk AS customer, sr_store_sk AS store, sum(sr_return_amt) AS total
      FROM store_returns, date_dim WHERE sr_returned_date_sk = d_date_sk AND d_year = 2000 GROUP BY 1, 2)
    SELECT c_customer_id FROM ctr ctr1, store, customer
    WHERE ctr1.total > (SELECT avg(total) * 1.2 FROM ctr ctr2 WHERE ctr1.store = ctr2.store)
      AND s_store_sk = ctr1.store AND ctr1.customer = c_customer_sk ORDER BY 1 LIMIT 100`,
  ],
  [
    'weekly sales of two channels',
    'catalog_sales date_dim web_sales',
    `WITH wscs AS (
      SELECT ws_sold_date_sk AS sold, ws_ext_sales_price AS price FROM web_sales
      UNION ALL SELECT cs_sold_date_sk, cs_ext_sales_price FROM catalog_sales),
    weeks AS (SELECT d_week_seq, sum(CASE WHEN d_day_name = 'Sunday' THEN price ELSE NULL END) AS sun,
      sum(CASE WHEN d_day_name = 'Monday' THEN price END) AS mon FROM wscs JOIN date_dim ON d_date_sk = sold GROUP BY 1)
    SELECT y.d_week_seq, round(y.sun / z.sun, 2), round(y.mon / z.mon, 2) FROM weeks y, weeks z
    WHERE y.d_week_seq = z.d_week_seq - 53 ORDER BY 1`,
  ],
  [
    'rollup over channels',
    'catalog_returns store_sales web_sales',
    `WITH x AS (
      SELECT 'store' AS channel, ss_store_sk AS id, sum(ss_net_paid) AS sales, 0 AS returns FROM store_sales GROUP BY 2
      UNION ALL SELECT 'web', ws_web_site_sk, sum(ws_net_paid), 0 FROM web_sales GROUP BY 2
      UNION ALL SELECT 'catalog', cr_call_center_sk, 0, sum(cr_net_loss) FROM catalog_returns GROUP BY 2)
    SELECT channel, id, sum(sales) AS sales, sum(returns) AS returns FROM x GROUP BY ROLLUP (channel, id)
    ORDER BY channel NULLS FIRST, id NULLS FIRST LIMIT 100`,
  ],
  [
    'grouping sets',
    'item store_sales',
    `SELECT i_category, i_class, grouping(i_category) + grouping(i_class) AS level,
      rank() OVER (PARTITION BY grouping(i_category) + grouping(i_class),
        CASE WHEN grouping(i_class) = 0 THEN i_category END ORDER BY sum(ss_net_profit) / sum(ss_ext_sales_price)) AS r
    FROM store_sales JOIN item ON i_item_sk = ss_item_sk
    GROUP BY GROUPING SETS ((i_category, i_class), (i_category), ()) ORDER BY level DESC, r`,
  ],
  [
    'cube',
    'item store_sales',
    `SELECT i_brand, i_color, i_size, count(*), avg(ss_quantity) FROM store_sales, item
    WHERE ss_item_sk = i_item_sk GROUP BY CUBE (i_brand, i_color, i_size) HAVING count(*) > 1`,
  ],
  [
    'intersect of customers',
    'catalog_sales customer date_dim store_sales web_sales',
    `SELECT count(*) FROM (
      SELECT DISTINCT c_last_name, c_first_name, d_date FROM store_sales, date_dim, customer
        WHERE ss_sold_date_sk = d_date_sk AND ss_customer_sk = c_customer_sk AND d_month_seq BETWEEN 1200 AND 1211
      INTERSECT SELECT DISTINCT c_last_name, c_first_name, d_date FROM catalog_sales, date_dim, customer
        WHERE cs_sold_date_sk = d_date_sk AND cs_bill_customer_sk = c_customer_sk
      INTERSECT SELECT DISTINCT c_last_name, c_first_name, d_date FROM web_sales, date_dim, customer
        WHERE ws_sold_date_sk = d_date_sk AND ws_bill_customer_sk = c_customer_sk) hot`,
  ],
  [
    'except of customers',
    'catalog_sales store_sales',
    `SELECT count(*) FROM ((SELECT DISTINCT ss_customer_sk FROM store_sales)
    EXCEPT (SELECT DISTINCT cs_bill_customer_sk FROM catalog_sales)) cool`,
  ],
  [
    'buckets as scalar subqueries',
    'reason store_sales',
    `SELECT CASE WHEN (SELECT count(*) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 20) > 74129
      THEN (SELECT avg(ss_ext_discount_amt) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 20)
      ELSE (SELECT avg(ss_net_paid) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 20) END AS bucket1
    FROM reason WHERE r_reason_sk = 1`,
  ],
  [
    'exists or exists',
    'catalog_sales customer customer_demographics web_sales',
    `SELECT cd_gender, cd_marital_status, count(*) cnt1
    FROM customer c, customer_demographics WHERE cd_demo_sk = c.c_current_cdemo_sk
      AND (EXISTS (SELECT * FROM web_sales WHERE c.c_customer_sk = ws_bill_customer_sk)
        OR EXISTS (SELECT * FROM catalog_sales WHERE c.c_customer_sk = cs_ship_customer_sk))
    GROUP BY cd_gender, cd_marital_status ORDER BY ALL LIMIT 100`,
  ],
  [
    'share of a class',
    'date_dim item web_sales',
    `SELECT i_item_id, i_class, sum(ws_ext_sales_price) AS itemrevenue,
      sum(ws_ext_sales_price) * 100.0000 / sum(sum(ws_ext_sales_price)) OVER (PARTITION BY i_class) AS revenueratio
    FROM web_sales, item, date_dim WHERE ws_item_sk = i_item_sk AND i_category IN ('Sports', 'Books', 'Home')
      AND ws_sold_date_sk = d_date_sk AND d_date BETWEEN CAST('1999-02-22' AS DATE) AND CAST('1999-03-24' AS DATE)
    GROUP BY i_item_id, i_class ORDER BY 1, 2`,
  ],
  [
    'months beside each other',
    'date_dim item store_sales',
    `WITH v1 AS (
      SELECT i_category, d_year, d_moy, sum(ss_sales_price) AS s,
        avg(sum(ss_sales_price)) OVER (PARTITION BY i_category, d_year) AS mean,
        rank() OVER (PARTITION BY i_category ORDER BY d_year, d_moy) AS rn
      FROM item, store_sales, date_dim WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk
        AND (d_year = 1999 OR (d_year = 1998 AND d_moy = 12)) GROUP BY i_category, d_year, d_moy)
    SELECT v1.*, v1_lag.s AS psum, v1_lead.s AS nsum FROM v1, v1 v1_lag, v1 v1_lead
    WHERE v1.rn = v1_lag.rn + 1 AND v1.rn = v1_lead.rn - 1 AND CASE WHEN v1.mean > 0 THEN abs(v1.s - v1.mean) / v1.mean ELSE NULL END > 0.1`,
  ],
  [
    'running sums and full join',
    'date_dim store_sales web_sales',
    `WITH web_v1 AS (
      SELECT ws_item_sk AS item_sk, d_date, sum(sum(ws_sales_price)) OVER (PARTITION BY ws_item_sk ORDER BY d_date
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cume
      FROM web_sales, date_dim WHERE ws_sold_date_sk = d_date_sk GROUP BY ws_item_sk, d_date),
    store_v1 AS (SELECT ss_item_sk AS item_sk, d_date, sum(sum(ss_sales_price)) OVER (PARTITION BY ss_item_sk ORDER BY d_date
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cume
      FROM store_sales, date_dim WHERE ss_sold_date_sk = d_date_sk GROUP BY ss_item_sk, d_date)
    SELECT CASE WHEN web.item_sk IS NOT NULL THEN web.item_sk ELSE store.item_sk END AS item_sk,
      max(web.cume) OVER (PARTITION BY web.item_sk ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS web_cume
    FROM web_v1 web FULL OUTER JOIN store_v1 store ON (web.item_sk = store.item_sk AND web.d_date = store.d_date)`,
  ],
  [
    'not in any other channel',
    'date_dim store_returns store_sales',
    `SELECT ss_item_sk, sum(ss_quantity) FROM store_sales
    LEFT JOIN store_returns ON sr_ticket_number = ss_ticket_number AND ss_item_sk = sr_item_sk
    JOIN date_dim ON ss_sold_date_sk = d_date_sk WHERE sr_ticket_number IS NULL GROUP BY ss_item_sk`,
  ],
  [
    'standard deviation over mean',
    'date_dim inventory warehouse',
    `WITH inv AS (SELECT w_warehouse_name, d_moy, stdev, mean,
      CASE mean WHEN 0 THEN NULL ELSE stdev / mean END AS cov
      FROM (SELECT w_warehouse_name, d_moy, stddev_samp(inv_quantity_on_hand) AS stdev, avg(inv_quantity_on_hand) AS mean
        FROM inventory, warehouse, date_dim WHERE inv_warehouse_sk = w_warehouse_sk AND inv_date_sk = d_date_sk GROUP BY 1, 2) foo
      WHERE CASE mean WHEN 0 THEN 0 ELSE stdev / mean END > 1)
    SELECT inv1.*, inv2.cov FROM inv inv1, inv inv2 WHERE inv1.d_moy = 1 AND inv2.d_moy = 1 + 1`,
  ],
  [
    'best and worst',
    'item store_sales',
    `SELECT asceding.rnk, i1.i_product_name AS best, i2.i_product_name AS worst
    FROM (SELECT * FROM (SELECT item_sk, rank() OVER (ORDER BY rank_col ASC) AS rnk FROM (
        SELECT ss_item_sk AS item_sk, avg(ss_net_profit) AS rank_col FROM store_sales ss1 WHERE ss_store_sk = 4 GROUP BY ss_item_sk
        HAVING avg(ss_net_profit) > 0.9 * (SELECT avg(ss_net_profit) FROM store_sales WHERE ss_addr_sk IS NULL GROUP BY ss_store_sk)) v1) v11
      WHERE rnk < 11) asceding, item i1, item i2 WHERE i1.i_item_sk = asceding.item_sk AND i2.i_item_sk = asceding.item_sk`,
  ],
  [
    'days until delivery',
    'call_center catalog_sales ship_mode warehouse',
    `SELECT substr(w_warehouse_name, 1, 20), sm_type, cc_name,
      sum(CASE WHEN cs_ship_date_sk - cs_sold_date_sk <= 30 THEN 1 ELSE 0 END) AS "30 days",
      sum(CASE WHEN (cs_ship_date_sk - cs_sold_date_sk > 30) AND (cs_ship_date_sk - cs_sold_date_sk <= 60) THEN 1 ELSE 0 END) AS "31-60 days"
    FROM catalog_sales, warehouse, ship_mode, call_center WHERE cs_warehouse_sk = w_warehouse_sk
      AND cs_ship_mode_sk = sm_ship_mode_sk AND cs_call_center_sk = cc_call_center_sk GROUP BY 1, 2, 3`,
  ],
  [
    'ratio of counts',
    'time_dim web_sales',
    `SELECT CAST(amc AS DECIMAL(15, 4)) / CAST(pmc AS DECIMAL(15, 4)) AS am_pm_ratio
    FROM (SELECT count(*) AS amc FROM web_sales, time_dim WHERE ws_sold_time_sk = t_time_sk AND t_hour BETWEEN 8 AND 9) a,
      (SELECT count(*) AS pmc FROM web_sales, time_dim WHERE ws_sold_time_sk = t_time_sk AND t_hour BETWEEN 19 AND 20) p`,
  ],
  [
    'orders of more than one warehouse',
    'web_returns web_sales',
    `WITH ws_wh AS (SELECT ws1.ws_order_number AS n FROM web_sales ws1, web_sales ws2
      WHERE ws1.ws_order_number = ws2.ws_order_number AND ws1.ws_warehouse_sk <> ws2.ws_warehouse_sk)
    SELECT count(DISTINCT ws_order_number) AS "order count", sum(ws_ext_ship_cost) FROM web_sales ws1
    WHERE ws1.ws_order_number IN (SELECT n FROM ws_wh)
      AND ws1.ws_order_number IN (SELECT wr_order_number FROM web_returns, ws_wh WHERE wr_order_number = ws_wh.n)`,
  ],
  [
    'zip codes',
    'customer_address',
    `SELECT substring(ca_zip, 1, 5) AS zip FROM customer_address
    WHERE substring(ca_zip, 1, 5) IN ('24128', '76232', '65084') INTERSECT SELECT ca_zip FROM (
      SELECT substring(ca_zip, 1, 5) AS ca_zip, count(*) AS cnt FROM customer_address GROUP BY ca_zip HAVING count(*) > 10) a1`,
  ],
  [
    'names beside names',
    'customer customer_address',
    `SELECT c_customer_id AS customer_id,
      coalesce(c_last_name, '') || ', ' || coalesce(c_first_name, '') AS customername
    FROM customer, customer_address WHERE ca_city = 'Edgewood' AND c_current_addr_sk = ca_address_sk`,
  ],
  [
    'counts in a year',
    'date_dim store_sales',
    `SELECT sum(CASE WHEN ss_quantity IS NULL THEN 1 ELSE 0 END) store_only,
      count(DISTINCT ss_customer_sk) FILTER (WHERE ss_net_paid > 0) FROM store_sales
    WHERE ss_sold_date_sk IN (SELECT d_date_sk FROM date_dim WHERE d_month_seq = (SELECT DISTINCT d_month_seq + 1 FROM date_dim WHERE d_year = 2001 AND d_moy = 1))`,
  ],
  [
    'rank of returns',
    'web_returns web_sales',
    `SELECT channel, item, return_ratio, return_rank FROM (
      SELECT 'web' AS channel, web.item, web.return_ratio, rank() OVER (ORDER BY web.return_ratio) AS return_rank FROM (
        SELECT ws_item_sk AS item, CAST(sum(coalesce(wr_return_quantity, 0)) AS DECIMAL(15, 4)) / CAST(sum(coalesce(ws_quantity, 0)) AS DECIMAL(15, 4)) AS return_ratio
        FROM web_sales LEFT OUTER JOIN web_returns ON ws_order_number = wr_order_number GROUP BY ws_item_sk) web) x
    WHERE return_rank <= 10 ORDER BY 1, 4`,
  ],
  [
    'top of each category',
    'date_dim item store store_sales',
    `SELECT * FROM (SELECT i_category, s_store_id, sumsales,
      rank() OVER (PARTITION BY i_category ORDER BY sumsales DESC) rk
      FROM (SELECT i_category, s_store_id, sum(coalesce(ss_sales_price * ss_quantity, 0)) sumsales
        FROM store_sales, date_dim, store, item WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk
          AND ss_store_sk = s_store_sk GROUP BY ROLLUP (i_category, s_store_id)) dw1) dw2 WHERE rk <= 100`,
  ],
  [
    'colours that exist',
    'item',
    `SELECT DISTINCT i_product_name FROM item i1 WHERE i_manufact_id BETWEEN 738 AND 778
    AND (SELECT count(*) AS item_cnt FROM item WHERE (i_manufact = i1.i_manufact
      AND ((i_category = 'Women' AND (i_color = 'powder' OR i_color = 'khaki') AND (i_units = 'Ounce' OR i_units = 'Oz')))
      OR (i_category = 'Men' AND i_size IN ('N/A', 'small')))) > 0`,
  ],
  [
    'before and after a day',
    'date_dim inventory item warehouse',
    `SELECT w_warehouse_name, i_item_id,
      sum(CASE WHEN CAST(d_date AS DATE) < CAST('2000-03-11' AS DATE) THEN inv_quantity_on_hand ELSE 0 END) AS inv_before
    FROM inventory, warehouse, item, date_dim WHERE i_current_price BETWEEN 0.99 AND 1.49
      AND d_date BETWEEN (CAST('2000-03-11' AS DATE) - INTERVAL 30 DAY) AND (CAST('2000-03-11' AS DATE) + INTERVAL 30 DAY)
    GROUP BY 1, 2 HAVING (CASE WHEN sum(inv_quantity_on_hand) > 0 THEN 1.0 ELSE NULL END) BETWEEN 2.0 / 3.0 AND 3.0 / 2.0`,
  ],
  [
    'days of a week through a subquery',
    'date_dim store_sales',
    `SELECT d_date FROM date_dim
    WHERE d_week_seq = (SELECT d_week_seq FROM date_dim WHERE d_date = '2000-01-03')
      AND d_date_sk NOT IN (SELECT ss_sold_date_sk FROM store_sales WHERE ss_sold_date_sk IS NOT NULL) ORDER BY d_date`,
  ],
];

describe('queries of the kinds of TPC-DS', () => {
  test.each(questions)('%s reads %s', async (_, tables, sql) => {
    const statement = await analyzeSql(connection, sql);
    if (statement.kind !== 'query') throw new Error(statement.kind);
    expect(
      statement.query.tables
        .map(({ name }) => name)
        .sort()
        .join(' '),
    ).toBe(tables);
    expect(statement.query.parameterCount).toBe(0);
  });
});
