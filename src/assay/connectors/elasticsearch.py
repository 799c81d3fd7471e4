"""Elasticsearch: see ``assay.connectors.opensearch``, whose cousin it is."""

from __future__ import annotations

from assay.connectors.engines import engine_kind
from assay.connectors.opensearch import ElasticsearchEngine, ElasticsearchSettings

CONNECTOR = engine_kind(ElasticsearchSettings, ElasticsearchEngine)
