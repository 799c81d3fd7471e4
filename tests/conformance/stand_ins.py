"""The forms of engines whose servers cannot be had here, after their documentation."""
# ruff: noqa: PLR0911 - a route is a return

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

from conformance.stand_in import StandIn, demand, lines_of

TABLE = "assay_chunks"


class Lucene(StandIn):
    """OpenSearch 2.19 and Elasticsearch 8: what both have in common."""

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        match method, path:
            case "GET", "/assay_chunks":
                if self.made is None:
                    return 404, {"error": {"type": "index_not_found_exception"}, "status": 404}
                return 200, {TABLE: self.made}
            case "PUT", "/assay_chunks":
                self._check_mapping(body)
                self.made = body
                return 200, {"acknowledged": True, "shards_acknowledged": True, "index": TABLE}
            case "POST", "/_bulk":
                return 200, self._bulk(lines_of(body) if isinstance(body, str) else [body])
            case "POST", "/assay_chunks/_refresh":
                return 200, {"_shards": {"total": 2, "successful": 1, "failed": 0}}
            case "POST", "/assay_chunks/_search":
                if "sort" in body:
                    return 200, self._page(body)
                return 200, self._hits(self.search(body, params), body)
            case _:
                return 404, {"error": f"no handler found for uri [{path}] and method [{method}]"}

    def search(self, body: dict[str, Any], params: dict[str, str]) -> list[tuple[float, str]]:
        raise NotImplementedError

    def _check_mapping(self, body: Any) -> None:
        raise NotImplementedError

    def match_text(self, query: dict[str, Any]) -> str:
        demand(list(query) == ["match"] and list(query["match"]) == ["searched"], f"query {query}")
        return query["match"]["searched"]["query"]

    def _bulk(self, lines: list[Any]) -> dict[str, Any]:
        items: list[Any] = []
        while lines:
            ((action, about),) = lines.pop(0).items()
            demand(about["_index"] == TABLE, f"index {about}")
            if action == "index":
                fields = lines.pop(0)
                demand(fields.pop("key") == about["_id"], "key")
                self.put(about["_id"], fields)
            else:
                demand(action == "delete", action)
                self.rows.pop(about["_id"], None)
            items.append({action: {"_index": TABLE, "_id": about["_id"], "status": 200}})
        return {"took": 3, "errors": False, "items": items}

    def _page(self, body: dict[str, Any]) -> dict[str, Any]:
        demand(body["sort"] == [{"key": "asc"}] and body["_source"] is False, f"{body}")
        after = body.get("search_after", [""])[0]
        keys = sorted(key for key in self.rows if key > after)[: body["size"]]
        hits = [{"_index": TABLE, "_id": key, "_score": None, "sort": [key]} for key in keys]
        return {"took": 1, "timed_out": False, "hits": {"max_score": None, "hits": hits}}

    def _hits(self, ranked: list[tuple[float, str]], body: dict[str, Any]) -> dict[str, Any]:
        demand(body["_source"] == {"excludes": ["embedding"]}, f"{body['_source']}")
        hits = [
            {
                "_index": TABLE,
                "_id": key,
                "_score": score,
                "_source": {"key": key, **self.shown(key, "embedding")},
            }
            for score, key in ranked[: body["size"]]
        ]
        total = {"value": len(hits), "relation": "eq"}
        return {
            "took": 7,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"total": total, "max_score": ranked[0][0] if ranked else None, "hits": hits},
        }


class OpenSearch(Lucene):
    def search(self, body: dict[str, Any], params: dict[str, str]) -> list[tuple[float, str]]:
        query = body["query"]
        if "hybrid" in query:
            near, match = query["hybrid"]["queries"]
            if params != {"search_pipeline": "mine"}:
                (processor,) = body["search_pipeline"]["phase_results_processors"]
                combination = processor["score-ranker-processor"]["combination"]
                demand(combination == {"technique": "rrf", "rank_constant": 60}, f"{combination}")
            return self.fused(self.match_text(match), near["knn"]["embedding"]["vector"], body["size"])
        if "knn" in query:
            about = query["knn"]["embedding"]
            demand(set(about) == {"vector", "k"}, f"{about}")
            # k-NN scores of cosine similarity are (2 - distance) / 2.
            return [((1 + score) / 2, key) for score, key in self.near(about["vector"], about["k"])]
        return self.worded(self.match_text(query), body["size"])

    def _check_mapping(self, body: Any) -> None:
        demand(body["settings"] == {"index": {"knn": True}}, "settings")
        vector = body["mappings"]["properties"]["embedding"]
        demand(
            vector["type"] == "knn_vector" and vector["method"]["space_type"] == "cosinesimil", f"{vector}"
        )


class Elasticsearch(Lucene):
    def search(self, body: dict[str, Any], params: dict[str, str]) -> list[tuple[float, str]]:
        demand(not params, f"{params}")
        if "retriever" in body:
            fused = body["retriever"]["rrf"]
            demand(fused["rank_window_size"] >= body["size"], "rank_window_size must be at least size")
            near, match = fused["retrievers"]
            vector = self._vector(near["knn"])
            return self.fused(self.match_text(match["standard"]["query"]), vector, body["size"])
        if "knn" in body:
            vector = self._vector(body["knn"])
            return [((1 + score) / 2, key) for score, key in self.near(vector, body["knn"]["k"])]
        return self.worded(self.match_text(body["query"]), body["size"])

    def _vector(self, about: dict[str, Any]) -> list[float]:
        demand(set(about) == {"field", "query_vector", "k", "num_candidates"}, f"{about}")
        demand(about["k"] <= about["num_candidates"] <= 10_000, "num_candidates")
        return about["query_vector"]

    def _check_mapping(self, body: Any) -> None:
        vector = body["mappings"]["properties"]["embedding"]
        demand(vector["type"] == "dense_vector" and vector["similarity"] == "cosine", f"{vector}")


class Qdrant(StandIn):
    """Qdrant 1.15."""

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        base = f"/collections/{TABLE}"
        match method, path.removeprefix(base):
            case "GET", "":
                if self.made is None:
                    return 404, {"status": {"error": f"Not found: Collection `{TABLE}` doesn't exist!"}}
                return 200, self._told({"status": "green", "config": self.made})
            case "PUT", "":
                demand(body["vectors"]["embedding"]["distance"] == "Cosine", "distance")
                demand(body["sparse_vectors"] == {"searched": {"modifier": "idf"}}, "sparse")
                self.made = body
                return 200, self._told(True)
            case "PUT", "/points":
                demand(params == {"wait": "true"}, f"{params}")
                for point in body["points"]:
                    words = point["vector"]["searched"]
                    demand(words["model"] == "qdrant/bm25", f"{words}")
                    vector = {"embedding": point["vector"]["embedding"], "searched": words["text"]}
                    self.put(point["id"], {**point["payload"], **vector})
                return 200, self._told({"operation_id": 1, "status": "completed"})
            case "POST", "/points/delete":
                for key in body["points"]:
                    self.rows.pop(key, None)
                return 200, self._told({"operation_id": 2, "status": "completed"})
            case "POST", "/points/scroll":
                keys = sorted(key for key in self.rows if key >= body.get("offset", ""))
                page, rest = keys[:2], keys[2:]  # pages of two, whatever is asked for
                points = [{"id": key} for key in page]
                return 200, self._told({"points": points, "next_page_offset": rest[0] if rest else None})
            case "POST", "/points/query":
                points = [
                    {
                        "id": key,
                        "version": 0,
                        "score": score,
                        "payload": self.shown(key, "embedding", "searched"),
                    }
                    for score, key in self._query(body)
                ]
                return 200, self._told({"points": points})
            case _:
                return 404, {"status": {"error": path}}

    def _query(self, body: dict[str, Any]) -> list[tuple[float, str]]:
        if "prefetch" in body:
            demand(body["query"] == {"rrf": {"k": 61}}, f"{body['query']}")
            near, words = body["prefetch"]
            return self.fused(words["query"]["text"], near["query"], body["limit"])
        if body["using"] == "searched":
            demand(body["query"]["model"] == "qdrant/bm25", f"{body['query']}")
            return self.worded(body["query"]["text"], body["limit"])
        demand(body["using"] == "embedding" and body["params"] == {"exact": True}, f"{body}")
        return self.near(body["query"], body["limit"])

    def _told(self, result: object) -> dict[str, Any]:
        return {"result": result, "status": "ok", "time": 0.0012}


class Weaviate(StandIn):
    """Weaviate 1.3x, GraphQL and REST."""

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        match method, path:
            case "GET", "/v1/schema/Assay_chunks":
                return (404, "") if self.made is None else (200, self.made)
            case "POST", "/v1/schema":
                demand(body["class"] == "Assay_chunks" and body["vectorizer"] == "none", f"{body}")
                demand(body["vectorIndexConfig"] == {"distance": "cosine"}, "distance")
                self.made = body
                return 200, body
            case "POST", "/v1/batch/objects":
                for one in body["objects"]:
                    self.put(one["id"], {**one["properties"], "embedding": one["vector"]})
                return 200, [{**one, "result": {"status": "SUCCESS"}} for one in body["objects"]]
            case "GET", "/v1/objects":
                demand(params["class"] == "Assay_chunks", f"{params}")
                keys = sorted(key for key in self.rows if key > params["after"])
                return 200, {
                    "objects": [{"class": "Assay_chunks", "id": key} for key in keys],
                    "totalResults": 9,
                }
            case "DELETE", _ if path.startswith("/v1/objects/Assay_chunks/"):
                return (204, "") if self.rows.pop(path.rsplit("/", 1)[1], None) else (404, "")
            case "POST", "/v1/graphql":
                return 200, self._graphql(body["query"])
            case _:
                return 404, {"code": 404, "message": f"path {path} was not found"}

    def _graphql(self, query: str) -> dict[str, Any]:
        form = (
            r"\{ Get \{ Assay_chunks\(limit: (\d+), (\w+): \{(.*)\}\) "
            r"\{ (.*) _additional \{ id (\w+) \} \} \} \}"
        )
        found = re.fullmatch(form, query, re.DOTALL)
        if found is None:
            return {"errors": [{"message": f"Syntax Error GraphQL: {query[:80]}"}]}
        limit, kind, asked, columns, about = found.groups()
        fields = self._arguments(asked)
        match kind:
            case "nearVector":
                ranked = [(1 - score, key) for score, key in self.near(fields["vector"], int(limit))]
            case "bm25":
                demand(fields["properties"] == ["searched"], f"{fields}")
                ranked = self.worded(fields["query"], int(limit))
            case _:
                demand(kind == "hybrid" and fields["fusionType"] == "relativeScoreFusion", kind)
                ranked = self.fused(fields["query"], fields["vector"], int(limit))
        told = [(value if about == "distance" else str(value), key) for value, key in ranked]
        hits = [
            {
                **{name: self.rows[key][name] for name in columns.split()},
                "_additional": {"id": key, about: value},
            }
            for value, key in told
        ]
        return {"data": {"Get": {"Assay_chunks": hits}}}

    def _arguments(self, text: str) -> dict[str, Any]:
        """Read ``name: JSON, ...``; a word without quotes is an enumeration."""
        found: dict[str, Any] = {}
        decoder = json.JSONDecoder(strict=False)
        while text:
            name, _, text = text.partition(": ")
            if text[0].isalpha():
                word = re.match(r"\w+", text)
                assert word is not None
                found[name], end = word[0], word.end()
            else:
                found[name], end = decoder.raw_decode(text)
            text = text[end:].removeprefix(", ")
        return found


class Vespa(StandIn):
    """Vespa 8: a schema ``assay_chunks`` with the rank profiles vector, fulltext and fused."""

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        self.made = {}  # it is deployed
        base = f"/document/v1/assay/{TABLE}/docid"
        if path == "/search/":
            return 200, self._search(body)
        demand(path.startswith(base), path)
        key = path.removeprefix(base).removeprefix("/")
        name = f"id:assay:{TABLE}::{key}"
        match method:
            case "GET":
                keys = sorted(one for one in self.rows if one > params.get("continuation", ""))
                page = keys[:3]
                more = {"continuation": page[-1]} if len(keys) > 3 else {}
                documents: list[Any] = [{"id": f"id:assay:{TABLE}::{one}", "fields": {}} for one in page]
                return 200, {"pathId": path, "documents": documents, "documentCount": len(page), **more}
            case "POST":
                fields = dict(body["fields"])
                fields["embedding"] = fields["embedding"]["values"]
                self.put(key, fields)
            case _:
                demand(method == "DELETE", method)
                self.rows.pop(key, None)
        return 200, {"pathId": path, "id": name}

    def _search(self, body: dict[str, Any]) -> dict[str, Any]:
        found = re.fullmatch(r"select (.*) from assay_chunks where (.*)", body["yql"])
        if found is None:
            return {"root": {"id": "toplevel", "errors": [{"code": 4, "message": "Invalid query parameter"}]}}
        columns, where = found.groups()
        near = f"{{targetHits:{body['hits']}}}nearestNeighbor(embedding, q)"
        words = '{defaultIndex:"searched", grammar:"weakAnd"}userInput(@text)'
        match body["ranking"]:
            case "vector":
                demand(where == near, where)
                ranked = self.near(body["input.query(q)"], body["hits"])
            case "fulltext":
                demand(where == words, where)
                ranked = self.worded(body["text"], body["hits"])
            case _:
                demand(body["ranking"] == "fused" and where == f"({near}) or ({words})", where)
                ranked = self.fused(body["text"], body["input.query(q)"], body["hits"])
        children = [
            {
                "id": f"index:assay_content/0/{place:024x}",
                "relevance": score,
                "source": "assay_content",
                "fields": {name: self.rows[key][name] for name in columns.split(", ")},
            }
            for place, (score, key) in enumerate(ranked)
        ]
        root: dict[str, Any] = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": len(children)}}
        root["coverage"] = {"coverage": 100, "documents": len(self.rows), "full": True, "nodes": 1}
        return {"root": {**root, "children": children} if children else root}


class Typesense(StandIn):
    """Typesense 27."""

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        base = f"/collections/{TABLE}"
        match method, path:
            case "GET", _ if path == base:
                return (404, {"message": "Not Found"}) if self.made is None else (200, self.made)
            case "POST", "/collections":
                kinds = {one["name"]: one["type"] for one in body["fields"]}
                demand(kinds["searched"] == "string" and kinds["embedding"] == "float[]", f"{kinds}")
                self.made = body
                return 201, {**body, "num_documents": 0, "created_at": 1717000000}
            case "POST", _ if path == f"{base}/documents/import":
                demand(params == {"action": "upsert"}, f"{params}")
                rows = lines_of(body) if isinstance(body, str) else [body]
                for row in rows:
                    self.put(row.pop("id"), row)
                return 200, "\n".join('{"success":true}' for _ in rows)
            case "GET", _ if path == f"{base}/documents/export":
                demand(params == {"include_fields": "id"}, f"{params}")
                return 200, "\n".join(json.dumps({"id": key}) for key in self.rows)
            case "DELETE", _ if path.startswith(f"{base}/documents/"):
                key = path.rsplit("/", 1)[1]
                return (200, {"id": key}) if self.rows.pop(key, None) else (404, {"message": "Not found"})
            case "POST", "/multi_search":
                return 200, {"results": [self._search(one) for one in body["searches"]]}
            case _:
                return 404, {"message": "Not Found"}

    def _search(self, asked: dict[str, Any]) -> dict[str, Any]:
        demand(asked["collection"] == TABLE and asked["per_page"] <= 250, f"{asked}")
        demand(asked["exclude_fields"] == "id,embedding", "exclude_fields")
        n, near = asked["per_page"], None
        if "vector_query" in asked:
            form = r"embedding:\((\[.*?\]), k: (\d+)(?:, alpha: ([\d.]+))?\)"
            near = re.fullmatch(form, asked["vector_query"])
            demand(near is not None, "Malformed vector query string.")
        if asked["q"] == "*":
            assert near is not None
            ranked = self.near(json.loads(near[1]), int(near[2]))
            hits = [{**self._hit(key), "vector_distance": 1 - score} for score, key in ranked]
        elif near is None:
            demand(asked["query_by"] == "searched" and asked["prefix"] is False, f"{asked}")
            ranked = self.worded(asked["q"], n)
            # Sums of 64 bits, as Typesense gives them: their last digits are beyond a float.
            hits = [
                {**self._hit(key), "text_match": 578730123365187705 + int(score)} for score, key in ranked
            ]
        else:
            ranked = self.fused(asked["q"], json.loads(near[1]), n)
            hits = [
                {**self._hit(key), "hybrid_search_info": {"rank_fusion_score": score}}
                for score, key in ranked
            ]
        return {"facet_counts": [], "found": len(hits), "hits": hits, "out_of": len(self.rows), "page": 1}

    def _hit(self, key: str) -> dict[str, Any]:
        return {"document": self.shown(key, "embedding"), "highlight": {}, "highlights": []}


@dataclass(kw_only=True)
class Meilisearch(StandIn):
    """Meilisearch 1.13: whatever changes something is a task, which is done when it is looked at twice."""

    tasks: list[str] = field(default_factory=list[str])
    looks: int = 0

    def answer(self, method: str, path: str, params: dict[str, str], body: Any) -> tuple[int, Any]:
        del params  # everything is in the body
        base = f"/indexes/{TABLE}"
        match method, path:
            case "GET", _ if path == base:
                if self.made is None:
                    return 404, {"code": "index_not_found", "type": "invalid_request"}
                return 200, {"uid": TABLE, "primaryKey": "key"}
            case "POST", "/indexes":
                demand(body == {"uid": TABLE, "primaryKey": "key"}, f"{body}")
                self.made = {}
                return self._task("indexCreation")
            case "PATCH", _ if path == f"{base}/settings":
                demand(body["embedders"]["embedding"]["source"] == "userProvided", f"{body}")
                return self._task("settingsUpdate")
            case "POST", _ if path == f"{base}/documents":
                for row in body:
                    vector = row.pop("_vectors")["embedding"]
                    self.put(row.pop("key"), {**row, "embedding": vector})
                return self._task("documentAdditionOrUpdate")
            case "POST", _ if path == f"{base}/documents/delete-batch":
                for key in body:
                    self.rows.pop(key, None)
                return self._task("documentDeletion")
            case "POST", _ if path == f"{base}/documents/fetch":
                keys = sorted(self.rows)[body["offset"] :][: body["limit"]]
                page = [{"key": key} for key in keys]
                return 200, {"results": page, "offset": body["offset"], "total": len(self.rows)}
            case "GET", _ if path.startswith("/tasks/"):
                self.looks += 1
                done = self.looks % 2 == 0
                kind = self.tasks[int(path.rsplit("/", 1)[1])]
                return 200, {"type": kind, "status": "succeeded" if done else "processing", "error": None}
            case "POST", _ if path == f"{base}/search":
                return 200, self._search(body)
            case _:
                return 404, {"code": "not_found"}

    def _task(self, kind: str) -> tuple[int, Any]:
        self.tasks.append(kind)
        return 202, {"taskUid": len(self.tasks) - 1, "indexUid": TABLE, "status": "enqueued", "type": kind}

    def _search(self, body: dict[str, Any]) -> dict[str, Any]:
        demand(body["showRankingScore"] is True, "showRankingScore")
        hybrid = cast("dict[str, Any] | None", body.get("hybrid"))
        if hybrid is None:
            ranked = self.worded(body["q"], body["limit"])
        else:
            demand(hybrid["embedder"] == "embedding", f"{hybrid}")
            if hybrid["semanticRatio"] == 1.0:
                ranked = self.near(body["vector"], body["limit"])
            else:
                ranked = self.fused(body["q"], body["vector"], body["limit"])
        columns = body["attributesToRetrieve"]
        hits = [
            {**{name: self.rows[key][name] for name in columns}, "_rankingScore": score}
            for score, key in ranked
        ]
        return {"hits": hits, "query": body.get("q", ""), "processingTimeMs": 1, "limit": body["limit"]}
